"""Stages of a model that run once for each strip of columns, so that their rows are shorter.

one strip     row 0 |################|       four strips     row 0 |####|............
              row 1 |################|                       row 1 |####|............
              row 2 |################|                       row 2 |####|............
"""

from usmp_build.passes.strips.divide import in_strips as in_strips
from usmp_build.passes.strips.stages import Division as Division
from usmp_build.passes.strips.stages import divisions as divisions
