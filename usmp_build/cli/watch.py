"""Generate, and again whenever the manifest or a model changes, until Ctrl-C.

It takes the options of `generate`.  It shows an error, and waits for the next change.
"""

from __future__ import annotations

import argparse
import sys
from threading import Event

from usmp_build.cli import generate
from usmp_build.cli.overrides import MANIFEST
from usmp_build.cli.reading import read_manifest
from usmp_build.errors import UsmpError
from usmp_build.files import Stamp, stamp

_SECONDS = 0.5
"""Between two looks at the files."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    generate.arguments(parser)


def run(parsed: argparse.Namespace) -> int:
    """Run the command, which only KeyboardInterrupt ends."""
    while True:
        stamps = _generate(parsed)
        if not parsed.quiet:
            print(f"watching {len(stamps)} file{'s' if len(stamps) > 1 else ''}; Ctrl-C ends")
        sys.stdout.flush()
        while all(stamp(path) == old for path, old in stamps.items()):
            Event().wait(_SECONDS)


def _generate(parsed: argparse.Namespace) -> dict[str, Stamp]:
    """Generate once, and show any error; return the files whose change matters, as they were when they were read."""
    stamps = {path: stamp(path) for path in parsed.manifest or [MANIFEST]}
    try:
        manifest, files = read_manifest(parsed)
        try:
            generate.generate(parsed, manifest, files)
        finally:
            stamps = files.stamps
    except UsmpError as error:
        print(*error.diagnostics, sep="\n", file=sys.stderr)
    return stamps
