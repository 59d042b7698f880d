"""What people are told of a plan, or why there is none."""
