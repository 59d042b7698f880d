"""A hook of mkdocs: every page of the site shows which version of usmp_build it describes."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

_SOURCE = Path(__file__).parents[1] / "usmp_build" / "__init__.py"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the version of the source tree to the name of the site, which stands above the table of contents."""
    (version,) = re.findall(r'^__version__ = "(.*)"', _SOURCE.read_text(encoding="utf-8"), re.MULTILINE)
    config.site_name = f"{config.site_name} {version}"
    return config
