"""Checks that the manifest has the names that a build system declared files by."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.manifest.clashes import pool_bytes
from usmp_build.manifest.model import Manifest


def expectation_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options for names that are expected."""
    parser.add_argument(
        "--expect-project",
        metavar="NAME",
        help="fail if the project has another name, or unexpected bytes of pools",
    )
    parser.add_argument(
        "--expect-pool-bytes",
        action="append",
        default=[],
        metavar="POOL",
        help="fail unless exactly the pools of these options are constant pools of the application, as files",
    )


def check_expected(manifest: Manifest, parsed: argparse.Namespace) -> None:
    """Raise ManifestError where names in the manifest differ from the expected ones."""
    project, pools = parsed.expect_project, parsed.expect_pool_bytes
    if project is None and not pools:
        return
    if wrong := [*_project(manifest, project), *_pool_bytes(manifest, pools)]:
        raise ManifestError(*wrong)


def _project(manifest: Manifest, expected: str | None) -> Iterator[Diagnostic]:
    name = manifest.project.name
    if expected not in (None, name):
        message = f'the project is called "{name}", but the build expects "{expected}"'
        help_ = f'let the build expect it (Bazel: project = "{name}"), or write name = "{expected}" in [project]'
        yield Diagnostic("U245", message, manifest.places.value("project", "name"), help_)


def _pool_bytes(manifest: Manifest, expected: Sequence[str]) -> Iterator[Diagnostic]:
    there = pool_bytes(manifest)
    names = ", ".join(f'"{name}"' for name in there)
    help_ = f"let the build expect those that exist (Bazel: pool_bytes = [{names}])"
    for name in there:
        if name not in expected:
            message = f'the bytes of pool "{name}" are files, which the build does not expect'
            yield Diagnostic("U246", message, manifest.places.key("pools", name), help_)
    for name in expected:
        if name not in there:
            message = f'the build expects the bytes of pool "{name}", which is no constant pool of the application'
            place = manifest.places.key("pools", name) if name in manifest.pools else manifest.places.document
            yield Diagnostic("U246", message, place, help_)
