"""What users read about a plan, or why there is none."""
