"""Translates TVMC command lines to manifests, for users of TVM's memory planner.

text ─read_words→ Words ─read_command→ Command ─memory→ StarterMemory
"""

from usmp_build.manifest.tvmc.command import Command, read_command
from usmp_build.manifest.tvmc.memory import memory

__all__ = ["Command", "memory", "read_command"]
