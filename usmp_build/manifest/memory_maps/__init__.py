"""Reads which memories a project has from the files that it has: linker scripts, devicetrees, memory pools of ST.

text ─read→ tuple[Memory, ...] ─starter_memory→ StarterMemory
"""

from usmp_build.manifest.memory_maps.devicetree import read_devicetree
from usmp_build.manifest.memory_maps.linker_script import read_linker_script
from usmp_build.manifest.memory_maps.memory import CODES, starter_memory
from usmp_build.manifest.memory_maps.mpool import read_mpool

__all__ = ["CODES", "read_devicetree", "read_linker_script", "read_mpool", "starter_memory"]
