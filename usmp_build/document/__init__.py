"""Reads TOML and JSON with the place of every value, so that messages can point to errors."""
