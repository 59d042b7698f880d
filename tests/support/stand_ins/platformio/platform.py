"""In place of a platform of PlatformIO: it has no packages, its compilers are those of the system."""

from platformio.public import PlatformBase


class BoardPlatform(PlatformBase):
    pass
