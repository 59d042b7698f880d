"""Reading the manifest that a command line names."""

from __future__ import annotations

import argparse
from pathlib import Path

from usmp_build.cli.overrides import read_overrides
from usmp_build.files import DiskFiles
from usmp_build.manifest.load import load
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.resolve import resolve
from usmp_build.request import Request


def read_request(parsed: argparse.Namespace) -> tuple[Request, DiskFiles]:
    """Read the manifest, with overrides; model files stand relative to it."""
    manifest, files = read_manifest(parsed)
    return resolve(manifest, read_overrides(parsed)), files


def read_manifest(parsed: argparse.Namespace) -> tuple[Manifest, DiskFiles]:
    """Read the manifest alone."""
    path = Path(parsed.manifest)
    files = DiskFiles(path.parent)
    return load(files.read(path.name), parsed.manifest), files
