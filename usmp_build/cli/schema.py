"""Print a JSON schema, or the manual page of the manifest: the files below schemas/ and docs/ are made so."""

from __future__ import annotations

import argparse

from usmp_build.emitters.plan_json import plan_schema
from usmp_build.manifest.page import manifest_page
from usmp_build.manifest.schema import json_schema


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--plan", action="store_true", help="the schema of plan.json instead of the manifest's")
    which.add_argument("--page", action="store_true", help="docs/manifest.md, made from the same source")


def run(parsed: argparse.Namespace) -> int:
    """Do it."""
    text = plan_schema() if parsed.plan else manifest_page() if parsed.page else json_schema()
    print(text, end="")
    return 0
