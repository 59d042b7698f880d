"""examples/firmware in tests: what its boards are like, and programs built for them, run in QEMU, and looked into."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.cmake import PYTHON

EXAMPLE = ROOT / "examples" / "firmware"
FIND = f"-Dusmp_build_DIR={ROOT.as_posix()}/cmake"

_QEMU_OPTIONS = (
    *("-display", "none", "-monitor", "none", "-serial", "none"),
    *("-chardev", "stdio,id=host", "-semihosting-config", "enable=on,target=native,chardev=host"),
)
_UNITS = {"": 1, "K": 1024, "M": 1024 * 1024}
_MEDDLERS = ("CMAKE_GENERATOR", "CMAKE_BUILD_TYPE", "CFLAGS", "ASMFLAGS", "LDFLAGS", "NINJA_STATUS", "VERBOSE")
"""What the environment of the tests may hold that changes how CMake builds."""


@dataclass(frozen=True)
class Board:
    """A board that QEMU emulates; its name is that of its presets."""

    name: str
    tools: str
    """What the names of its compiler, nm and size begin with."""
    c_library: str
    """A file that the compiler finds where there is a C library for the board."""
    qemu: tuple[str, ...]
    regions: dict[str, tuple[int, int]]
    """Those of MEMORY in its linker script: name → origin and length in bytes."""

    @property
    def gcc(self) -> str:
        """The compiler."""
        return f"{self.tools}-gcc"

    @property
    def nm(self) -> str:
        """The tool that lists symbols."""
        return f"{self.tools}-nm"

    @property
    def size(self) -> str:
        """The tool that lists sections."""
        return f"{self.tools}-size"

    def region_of(self, address: int) -> str | None:
        """The region of memory that an address is in, if any."""
        regions = self.regions.items()
        return next((name for name, (origin, length) in regions if origin <= address < origin + length), None)


def _read(name: str) -> Board:
    """Read what the toolchain file and the linker script say of a board."""
    settings = dict(re.findall(r"set\((\w+) \"?([^\")]+)", (EXAMPLE / "boards" / f"{name}.cmake").read_text()))
    script = (EXAMPLE / "boards" / f"{name}.ld").read_text()
    regions = re.findall(r"(\w+)[\s(rw)]*: ORIGIN = (0x[0-9A-Fa-f]+), LENGTH = (\d+)([KM]?)\n", script)
    return Board(
        name=name,
        tools=settings["BOARD_TOOLS"],
        c_library="picolibc.specs" if "picolibc" in settings["BOARD_FLAGS"] else "libc.a",
        qemu=tuple(settings["BOARD_QEMU"].split()),
        regions={region: (int(origin, 16), int(count) * _UNITS[unit]) for region, origin, count, unit in regions},
    )


BOARDS = tuple(_read(name) for name in ("m3", "m4", "m7", "m33", "m55", "riscv"))


def need(board: Board) -> None:
    """Skip the test where a tool is missing."""
    for tool in ("cmake", "ninja", board.gcc, board.nm, board.size, board.qemu[0]):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    found = subprocess.run(
        [board.gcc, f"-print-file-name={board.c_library}"], capture_output=True, text=True, check=True
    )
    if not Path(found.stdout.strip()).is_absolute():
        pytest.skip(f"{board.gcc} has no C library: there is no {board.c_library}")


def try_build(
    board: Board,
    folder: Path,
    *,
    manifest: Path | None = None,
    main: Path | None = None,
    definitions: Iterable[str] = (),
    find: str = FIND,
    options: Iterable[str] = (),
) -> tuple[int, str]:
    """Configure and build the example in `folder`; return the exit code of the last command, and what all of them said.

    `manifest`, whose project must be called firmware, and `main`, a C file, take the place of the example's own;
    `definitions` reach every file, generated ones too.  Warnings are errors.
    """
    settings = {"FIRMWARE_MANIFEST": manifest, "FIRMWARE_MAIN": main, "FIRMWARE_DEFINITIONS": ";".join(definitions)}
    given = [f"-D{name}={value}" for name, value in settings.items() if value]
    strict = "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON"
    code, text = _cmake("--preset", board.name, "-B", str(folder), find, PYTHON, strict, *given, *options)
    if code == 0:
        code, built = _cmake("--build", str(folder), "--parallel", "2")
        text += built
    return code, text


def build(
    board: Board,
    folder: Path,
    *,
    manifest: Path | None = None,
    main: Path | None = None,
    definitions: Iterable[str] = (),
    find: str = FIND,
    options: Iterable[str] = (),
) -> Path:
    """Do what `try_build` does; return the program.  Fails the test with what was said if that fails."""
    code, text = try_build(
        board, folder, manifest=manifest, main=main, definitions=definitions, find=find, options=options
    )
    assert code == 0, text
    return folder / "firmware.elf"


def run(
    board: Board,
    elf: Path,
    cwd: Path,
    *,
    words: str = "",
    plugin_args: Iterable[str] = (),
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run a program in QEMU; files that it names are in `cwd`, and `words` are its command line.

    `plugin_args` are further options of QEMU.
    """
    command = [*board.qemu, *_QEMU_OPTIONS, *plugin_args, "-kernel", str(elf), "-append", words]
    return subprocess.run(
        command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False
    )


def symbols(board: Board, elf: Path) -> dict[str, tuple[int, int]]:
    """Return the symbols of a program: name → address and size in bytes, 0 if it has none."""
    text = subprocess.run([board.nm, "-S", elf], capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^([0-9a-f]{8})(?: ([0-9a-f]{8}))? \w (\S+)$", text, re.MULTILINE)
    return {name: (int(address, 16), int(size or "0", 16)) for address, size, name in lines}


def _cmake(*arguments: str) -> tuple[int, str]:
    env = {name: value for name, value in os.environ.items() if name not in _MEDDLERS}
    done = subprocess.run(
        ["cmake", *arguments],
        cwd=EXAMPLE,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    return done.returncode, done.stdout
