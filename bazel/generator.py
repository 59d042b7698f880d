"""Runs usmp-build from this source tree, or from the interpreter's packages when installed."""

import sys

try:
    from usmp_build.cli import main
except ModuleNotFoundError as missing:
    way_out = "with MODULE.bazel, usmp_build must be the source tree or the sdist: docs/build-systems.md"
    sys.exit(f"{sys.executable} has no module {missing.name}; {way_out}")

sys.exit(main())
