"""The manifest: the TOML file in which a firmware declares its models and its memory.

bytes ─load→ Manifest ─resolve→ Request
"""

from usmp_build.manifest.load import load
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.overrides import NameList, Overrides
from usmp_build.manifest.page import manifest_page
from usmp_build.manifest.resolve import resolve
from usmp_build.manifest.schema import json_schema
from usmp_build.manifest.starter import StarterMemory, StarterModel, fitting_names, starter

__all__ = [
    "Manifest",
    "NameList",
    "Overrides",
    "StarterMemory",
    "StarterModel",
    "fitting_names",
    "json_schema",
    "load",
    "manifest_page",
    "resolve",
    "starter",
]
