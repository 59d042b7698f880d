"""Checks linked images and map files, which are not trusted, against plan.json."""
