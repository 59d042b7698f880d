"""List the files that `generate` would write, without planning: for build systems, which must know before.

Each line names an owner (the plan or a model), a tab, and a file.
"""

from __future__ import annotations

import argparse

from usmp_build.cli.common import manifest_arguments, read_request
from usmp_build.emitters.names import model_files, plan_files


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    manifest_arguments(parser)


def run(parsed: argparse.Namespace) -> int:
    """Do it."""
    request, _ = read_request(parsed)
    for file in plan_files(request.project):
        print(f"{request.project}\t{file}")
    for model in request.models:
        for file in model_files(model.name):
            print(f"{model.name}\t{file}")
    return 0
