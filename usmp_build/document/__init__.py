"""Texts that people wrote, as values with places: what is wrong in them is shown where it stands."""
