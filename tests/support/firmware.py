"""examples/firmware in tests: what its boards are like, and programs built for them, run in QEMU, and looked into."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import processes, tools
from tests.support.cmake import PYTHON
from tests.support.processes import Done, environment, output
from tests.support.tree import ROOT

EXAMPLE = ROOT / "examples" / "firmware"
FIND = f"-Dusmp_build_DIR={ROOT.as_posix()}/cmake"

_UNITS = {"": 1, "K": 1024, "M": 1024 * 1024}


@dataclass(frozen=True)
class Board:
    """A board that QEMU emulates; its name is that of its presets."""

    name: str
    tools: str
    """What the names of its compiler and the like begin with."""
    flags: tuple[str, ...]
    """Of the compiler: for which processor, and which C library."""
    qemu: tuple[str, ...]
    """The command that runs it."""
    regions: dict[str, tuple[int, int]]
    """Those of MEMORY in its linker script: name → origin and length in bytes."""
    constant_region: str
    """Where constants go whose pool names no region."""
    workspace_region: str
    """Where workspaces go whose pool names no region."""

    @property
    def gcc(self) -> str:
        """The compiler."""
        return f"{self.tools}-gcc"

    @property
    def nm(self) -> str:
        """The tool that lists symbols."""
        return f"{self.tools}-nm"

    @property
    def objcopy(self) -> str:
        """The tool that takes sections out of a program."""
        return f"{self.tools}-objcopy"

    @property
    def c_library(self) -> str:
        """A file that the compiler finds where there is a C library for the board."""
        return "picolibc.specs" if "--specs=picolibc.specs" in self.flags else "libc.a"

    def region_of(self, address: int) -> str | None:
        """The region of memory that an address is in, if any."""
        regions = self.regions.items()
        return next((name for name, (origin, length) in regions if origin <= address < origin + length), None)


def _read(toolchain: Path) -> Board:
    """Read what the toolchain file and the linker script say of a board."""
    settings = dict(re.findall(r"set\((\w+) \"?([^\")]+)", toolchain.read_text()))
    row = re.compile(r"(\w+) *(?:\((\S+)\))? *: ORIGIN = (0x[0-9A-Fa-f]+), LENGTH = (\d+)([KM]?)\n")
    rows = row.findall(toolchain.with_suffix(".ld").read_text())
    for_pools = {attributes: name for name, attributes, *_ in rows}
    return Board(
        name=toolchain.stem,
        tools=settings["BOARD_TOOLS"],
        flags=tuple(settings["BOARD_FLAGS"].split()),
        qemu=tuple(settings["BOARD_QEMU"].split()),
        regions={name: (int(origin, 16), int(count) * _UNITS[unit]) for name, _, origin, count, unit in rows},
        constant_region=for_pools["r"],
        workspace_region=for_pools["w!r"],
    )


_TOOLCHAINS = sorted((EXAMPLE / "boards").glob("*.cmake"))
BOARDS = {path.stem: _read(path) for path in _TOOLCHAINS if path.stem != "toolchain"}
"""All of them, by name."""


def on(*names: str) -> pytest.MarkDecorator:
    """Run a test on these boards only."""
    return pytest.mark.parametrize("board", grouped(names), indirect=True)


def grouped(names: Iterable[str]) -> list[Any]:
    """Boards as parameters; all tests of a board run in one process, which builds images for it once."""
    return [pytest.param(name, marks=pytest.mark.xdist_group(f"board_{name}")) for name in names]


EACH_PROTECTION = on("m3", "m55", "riscv")
"""One board of each kind of memory protection: ARMv7-M, ARMv8-M, RISC-V."""


def obstacle(board: Board) -> str:
    """Say why nothing can be built for a board or run on it; empty if it can."""
    if reason := tools.missing("cmake", "ninja", board.gcc, board.nm, board.objcopy, board.qemu[0]):
        return reason
    answer = output([board.gcc, f"-print-file-name={board.c_library}"]).strip()
    return "" if Path(answer).is_absolute() else f"{board.gcc} has no C library: there is no {board.c_library}"


def need_board(board: Board) -> None:
    """Skip the test where nothing can be built for a board or run on it."""
    if reason := obstacle(board):
        pytest.skip(reason)


def try_build(
    board: Board,
    folder: Path,
    *,
    source: Path = EXAMPLE,
    manifest: Path | None = None,
    main: Path | None = None,
    definitions: Iterable[str] = (),
    find: str = FIND,
    build_type: str | None = None,
    python: str = PYTHON,
    include: Path | None = None,
) -> tuple[int, str]:
    """Configure and build the example in `folder`; return the exit code of the last command, and the output of all.

    `manifest`, whose project must be called firmware, and `main`, a C file, take the place of the example's own;
    `definitions` reach every file, generated ones too.  `source` may be a copy of the example, and `include` is CMake
    that is run before it.  Warnings are errors.
    """
    settings = {"FIRMWARE_MANIFEST": manifest, "FIRMWARE_MAIN": main, "FIRMWARE_DEFINITIONS": ";".join(definitions)}
    settings |= {"CMAKE_BUILD_TYPE": build_type, "CMAKE_PROJECT_firmware_INCLUDE": include}
    given = [f"-D{name}={value}" for name, value in settings.items() if value]
    strict = "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON"
    code, text = _cmake(source, "--preset", board.name, "-B", str(folder), find, python, strict, *given)
    if code == 0:
        code, built = rebuild(folder)
        text += built
    return code, text


def build(board: Board, folder: Path, **options: Any) -> Path:
    """Do what `try_build` does; return the program.  Fails the test with the output if that fails."""
    code, text = try_build(board, folder, **options)
    assert code == 0, text
    return folder / "firmware.elf"


def rebuild(folder: Path) -> tuple[int, str]:
    """Build what has been configured; return the exit code and the output."""
    return _cmake(folder, "--build", str(folder), "--parallel", "2")


def qemu_options(elf: Path, words: str = "") -> list[str]:
    """Return options of QEMU: run a program, which has a command line, and print what it prints and nothing else."""
    quiet = ["-display", "none", "-monitor", "none", "-serial", "none"]
    host = ["-chardev", "stdio,id=host", "-semihosting-config", "enable=on,target=native,chardev=host"]
    return [*quiet, *host, "-kernel", str(elf), "-append", words]


def run(
    board: Board,
    elf: Path,
    cwd: Path,
    *,
    words: str = "",
    plugin_args: Iterable[str] = (),
    timeout: float = 120,
) -> Done:
    """Run a program in QEMU; files that it names are in `cwd`, and `words` are its command line.

    `plugin_args` are further options of QEMU.
    """
    return processes.run([*board.qemu, *qemu_options(elf, words), *plugin_args], cwd, timeout=timeout)


def symbols(board: Board, elf: Path) -> dict[str, tuple[int, int]]:
    """Return the symbols of a program: name → address and size in bytes, 0 if it has none."""
    lines = re.findall(r"(?m)^([0-9a-f]{8})(?: ([0-9a-f]{8}))? \w (\S+)$", output([board.nm, "-S", elf]))
    return {name: (int(address, 16), int(size or "0", 16)) for address, size, name in lines}


def _cmake(cwd: Path, *arguments: str) -> tuple[int, str]:
    done = processes.run(["cmake", *arguments], cwd, environment(), merged=True, timeout=600)
    return done.code, done.out
