"""The manifest: the TOML file in which a firmware declares its models and its memory.

bytes ─load→ Manifest ─resolve→ Request
"""

from usmp_build.manifest.load import load
from usmp_build.manifest.overrides import Overrides
from usmp_build.manifest.resolve import resolve

__all__ = ["Overrides", "load", "resolve"]
