"""`python -m usmp_build`."""

import sys

from usmp_build.cli import main

sys.exit(main())
