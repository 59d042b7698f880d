"""The counting plugin counts exactly: assembly functions of known instructions, loads and stores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import firmware
from tests.support.counting import SOURCE, Access, Interval, Timing, plugin_arguments, read_intervals
from tests.support.firmware import Board
from tests.support.processes import Done, output
from usmp_build.interfaces.kernels import Traffic

REGION = 0x100


@dataclass(frozen=True)
class Machine:
    """What the functions need to know of a board that is not in its files."""

    source: str
    unmapped: int
    """Where something readable ends and nothing follows."""
    two_processors: tuple[str, ...]
    """Options of its QEMU."""


MACHINES = {
    "m3": Machine("arm.S", 0x41200000, ("-M", "mps3-an524")),
    "m55": Machine("arm.S", 0x30080000, ("-M", "mps3-an524")),
    "riscv": Machine("riscv.S", 0x88000000, ("-smp", "2")),
}

pytestmark = firmware.on(*MACHINES)

SCRIPT = """\
ENTRY(reset)
SECTIONS {{ .text {:#x} : {{ *(.text) }} }}
"""

Counted = tuple[int, Mapping[str, Traffic]]
"""Instructions, and the traffic of regions; `outside` is one of them."""


def counted(instructions: int, **traffic: tuple[int, int]) -> Counted:
    return instructions, {name: Traffic(*pair) for name, pair in traffic.items()}


BORDER = counted(5, near=(2, 2), far=(2, 2))
BEYOND = counted(5, far=(1, 0), outside=(3, 4))
CORTEX_M = {
    "loop": counted(8),
    "condition": counted(7),
    "sizes": counted(10, near=(7, 7), code=(4, 0)),
    "pairs": counted(5, near=(8, 0), far=(0, 8)),
    "multiple": counted(7, near=(20, 0), far=(0, 12), stack=(20, 20)),
    "border": BORDER,
    "beyond": BEYOND,
    "exclusive": counted(5, near=(8, 4)),
    "service": counted(3),
    "fault": counted(8, stack=(4, 4)),
    "torn": counted(8, stack=(4, 4), outside=(8, 0)),
    "semihosting": counted(9),
    "kinds": counted(7),
}
MVE = {
    "vectors": counted(7, near=(32, 18), far=(0, 14)),
    "narrow": counted(6, near=(12, 4)),
    "predicated": counted(8, near=(5, 5)),
    "gathered": counted(7, near=(20, 8)),
    "interleaved": counted(9, near=(32, 64)),
    "torn_vector": counted(8, stack=(4, 4), outside=(8, 0)),
    "floats": counted(9, near=(44, 12), stack=(8, 8)),
    "low_overhead": counted(10, near=(20, 0), stack=(8, 8)),
    "float_service": counted(4),
    "float_kinds": counted(8),
}
EXPECTED: dict[str, dict[str, Counted]] = {
    "m3": CORTEX_M,
    "m55": CORTEX_M | MVE,
    "riscv": {
        "loop": counted(8),
        "sizes": counted(9, near=(7, 7)),
        "multiple": counted(7, stack=(8, 8)),
        "border": BORDER,
        "beyond": BEYOND,
        "exclusive": counted(5, near=(8, 4)),
        "atomic": counted(4, near=(4, 4)),
        "fault": counted(8),
        "semihosting": counted(7),
    },
}
"""In the order of the calls."""


@dataclass(frozen=True)
class Program:
    """The functions, built for a board, and where they and their memory are."""

    board: Board
    elf: Path
    plugin: Path
    symbols: Mapping[str, int]
    code: int
    data: int

    @property
    def expected(self) -> dict[str, Counted]:
        return EXPECTED[self.board.name]

    @property
    def regions(self) -> dict[str, tuple[int, int]]:
        return {
            "near": (self.data, REGION),
            "far": (self.data + REGION, REGION),
            "code": (self.code, 0x1000),
            "stack": (self.data + 0xF00, REGION),
        }

    @property
    def caller(self) -> tuple[int, int]:
        """What calls the functions, and the hook."""
        return self.symbols["reset"], self.symbols["end_of_caller"] - self.symbols["reset"]

    def marks(self, *names: str) -> dict[str, int]:
        return {name: self.symbols[name] for name in names}

    def run(self, *options: str) -> Done:
        return firmware.run(self.board, self.elf, self.elf.parent, plugin_args=options)

    def count(
        self,
        folder: Path,
        regions: Mapping[str, tuple[int, int]] | None = None,
        marks: Mapping[str, int] | None = None,
        ignored: Sequence[tuple[int, int]] | None = None,
    ) -> list[Interval]:
        """Run; return the intervals up to the hook or to other marks, not what comes before them or after."""
        given = (
            self.regions if regions is None else regions,
            self.marks("begin", "hook") if marks is None else marks,
            [self.caller] if ignored is None else ignored,
        )
        done = self.run(*plugin_arguments(self.plugin, folder / "out", *given))
        assert (done.code, done.out) == (0, "counted\n")
        return read_intervals(folder / "out")[1:-1]

    def functions(self, intervals: Sequence[Interval]) -> dict[str, Counted]:
        """Give each interval the name of the function that ran in it."""
        return {name: plain(one) for name, one in zip(self.expected, intervals, strict=True)}


def plain(interval: Interval) -> Counted:
    outside = {} if interval.outside == Traffic() else {"outside": interval.outside}
    return interval.instructions, {**interval.regions, **outside}


@pytest.fixture(scope="module")
def program(board: Board, plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Program:
    machine = MACHINES[board.name]
    folder = tmp_path_factory.mktemp(board.name)
    code, data = (board.regions[name][0] for name in ("START" if "START" in board.regions else "CODE", "DTCM"))
    (folder / "script.ld").write_text(SCRIPT.format(code))
    command = [board.gcc, *board.flags, "-nostdlib", f"-DDATA={data:#x}", f"-DUNMAPPED={machine.unmapped:#x}"]
    command += [f"-T{folder / 'script.ld'}", str(SOURCE.with_name(machine.source)), "-o", str(folder / "functions.elf")]
    output(command)
    elf = folder / "functions.elf"
    symbols = {name: address for name, (address, _) in firmware.symbols(board, elf).items()}
    return Program(board, elf, plugin, symbols, code, data)


def test_every_function_counts_exactly(program: Program, tmp_path: Path) -> None:
    intervals = program.count(tmp_path)
    assert program.functions(intervals) == program.expected
    assert {interval.mark for interval in intervals} == {"hook"}


def test_the_file_begins_with_the_first_mark_and_ends_with_the_last_instruction(
    program: Program, tmp_path: Path
) -> None:
    program.count(tmp_path)
    begin, *_, end = read_intervals(tmp_path / "out")
    assert begin.mark == "begin"
    assert end == Interval("end", 0, {}, Traffic(), (), end.timing)


def test_accesses_outside_say_where_they_come_from(program: Program, tmp_path: Path) -> None:
    at = dict(zip(program.expected, program.count(tmp_path), strict=True))["beyond"]
    end = program.data + 2 * REGION
    assert at.first == (
        Access(end, program.symbols["beyond_load"], 3, write=False),
        Access(end + 4, program.symbols["beyond_store"], 4, write=True),
    )


TIMINGS = {
    "loop": Timing(branches=4 + 2),
    "sizes": Timing(accesses=7, branches=4),
    "pairs": Timing(accesses=4, branches=4),
    "multiple": Timing(accesses=18, branches=4),
    "border": Timing(accesses=2, unaligned=2, branches=4),
    "kinds": Timing(branches=4, multiplications=3, divisions=2),
    "float_kinds": Timing(branches=4, float_divisions=2, float_sums=3),
}
"""On Arm.  Each function has four branches: the hook's return, two calls and its own return."""


def test_what_decides_how_many_cycles_it_takes(program: Program, tmp_path: Path) -> None:
    timings = {name: one.timing for name, one in zip(program.expected, program.count(tmp_path), strict=True)}
    if program.board.name == "riscv":
        assert timings["loop"] == TIMINGS["loop"]
        assert timings["border"] == TIMINGS["border"]
    else:
        expected = {name: timing for name, timing in TIMINGS.items() if name in timings}
        assert {name: timings[name] for name in expected} == expected
        assert len(expected) >= 6


def test_a_mark_is_just_before_its_instruction(program: Program, tmp_path: Path) -> None:
    marks = program.marks("beyond", "beyond_load", "beyond_store", "exclusive")
    thumb = {name: address | 1 for name, address in marks.items()} if program.board.tools.startswith("arm") else marks
    assert [(one.mark, *plain(one)) for one in program.count(tmp_path, marks=thumb)] == [
        ("beyond_load", *counted(2)),
        ("beyond_store", *counted(1, far=(1, 0), outside=(3, 0))),
        ("exclusive", *counted(2, outside=(0, 4))),
    ]


def test_two_marks_at_one_instruction_have_an_empty_interval_between_them(program: Program, tmp_path: Path) -> None:
    place = program.symbols["sizes"]
    intervals = program.count(tmp_path, marks={"one": place, "two": place, "three": program.symbols["multiple"]})
    assert [one.mark for one in intervals] == ["two", "three"]
    assert plain(intervals[0]) == counted(0)


def test_code_that_is_not_ignored_counts(program: Program, tmp_path: Path) -> None:
    """After the mark come the hook's return, the call of the function and the call of the hook."""
    expected = {name: (count + 3, traffic) for name, (count, traffic) in program.expected.items()}
    assert program.functions(program.count(tmp_path, ignored=())) == expected


def test_ignored_code_counts_neither_instructions_nor_accesses(program: Program, tmp_path: Path) -> None:
    begin, end = program.symbols["beyond"], program.symbols["exclusive"]
    counts = program.functions(program.count(tmp_path, ignored=[program.caller, (begin, end - begin)]))
    assert counts == program.expected | {"beyond": counted(0)}


def test_where_regions_overlap_the_first_one_counts(program: Program, tmp_path: Path) -> None:
    data = program.data
    inner, outer, empty = (data + 4, 4), (data, REGION), (data + 8, 0)
    first = program.count(tmp_path, {"empty": empty, "inner": inner, "outer": outer})
    assert program.functions(first)["sizes"][1].items() >= counted(0, inner=(3, 0), outer=(4, 7))[1].items()
    second = program.count(tmp_path, {"outer": outer, "inner": inner})
    assert program.functions(second)["sizes"][1].items() >= counted(0, outer=(7, 7))[1].items()


def test_an_access_is_split_into_bytes(program: Program, tmp_path: Path) -> None:
    start = program.data + REGION - 2
    intervals = program.count(tmp_path, {"one/a [0]": (start, 1), "two; b": (start + 2, 1)})
    at = dict(zip(program.expected, intervals, strict=True))["border"]
    assert at.regions == {"one/a [0]": Traffic(1, 1), "two; b": Traffic(1, 1)}
    assert at.outside == Traffic(2, 2)
    assert [(access.address, access.size, access.write) for access in at.first] == [
        (start + 1, 1, False),
        (start + 3, 1, False),
        (start + 1, 1, True),
        (start + 3, 1, True),
    ]


def test_thousands_of_regions(program: Program, tmp_path: Path) -> None:
    """In an order that is not sorted, each of one byte."""
    data = program.data
    numbers = [number * 1237 % 4096 for number in range(4096)]
    intervals = program.count(tmp_path, {f"byte {number}": (data + number, 1) for number in numbers})
    at = dict(zip(program.expected, intervals, strict=True))["border"]
    assert at.regions == {f"byte {number}": Traffic(1, 1) for number in range(REGION - 2, REGION + 2)}
    assert at.outside == Traffic()


def test_every_run_counts_the_same(program: Program, tmp_path: Path) -> None:
    """Also in a folder whose name QEMU would take apart."""
    folders = [tmp_path / "one", tmp_path / "one,,and another, with spaces"]
    for folder in folders:
        folder.mkdir()
        program.count(folder)
    first, second = ((folder / "out").read_bytes() for folder in folders)
    assert first == second


@pytest.mark.parametrize(
    "wrong",
    [
        ["out=missing/out"],
        ["region=a:0x0"],
        ["region=a:16:0x10"],
        ["region=a:0x0:0x10z"],
        ["region=:0x0:0x10"],
        ['region=a"b:0x0:0x10'],
        [f"region={'a' * 256}:0x0:0x10"],
        ["region=a:0x2:0xffffffffffffffff"],
        ["region=a:0x0:0x10", "region=a:0x10:0x10"],
        [f"region={number}:{number:#x}:0x1" for number in range(4097)],
        ["mark=a"],
        ["mark=a:0x10:0x20"],
        ["mark=end:0x10"],
        ["ignore=0x10"],
        ["ignore=a:0x10:0x10"],
        ["config=missing"],
        ["nonsense=0x1"],
        ["nonsense"],
    ],
    ids=lambda wrong: wrong[-1][:40],
)
def test_wrong_arguments_are_refused(program: Program, tmp_path: Path, wrong: list[str]) -> None:
    config = tmp_path / "config"
    config.write_text("\n".join([f"out={tmp_path / 'out'}", *wrong]) + "\n", encoding="utf-8")
    done = program.run("-plugin", f"{program.plugin},config={config}")
    assert done.code != 0
    assert f'counting: argument "{wrong[-1]}" cannot be used' in done.err


def test_arguments_may_be_on_the_command_line(program: Program, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(f"mark=hook:{program.symbols['hook']:#x}\n", encoding="utf-8")
    near = f"region=near:{program.data:#x}:{REGION:#x}"
    options = f"{program.plugin},out={tmp_path / 'out'},{near},config={config},ignore=0x0:0xffffffff"
    assert program.run("-plugin", options).code == 0
    assert {one.mark: plain(one) for one in read_intervals(tmp_path / "out")} == {"hook": (0, {}), "end": (0, {})}


def test_nothing_runs_without_a_file_for_the_output(program: Program) -> None:
    done = program.run("-plugin", str(program.plugin))
    assert done.code != 0
    assert "counting: it needs" in done.err


def test_two_processors_are_refused(program: Program, tmp_path: Path) -> None:
    options = plugin_arguments(program.plugin, tmp_path / "out", {}, {}, ())
    done = program.run(*options, *MACHINES[program.board.name].two_processors)
    assert done.code != 0
    assert "counting: it needs" in done.err


def test_a_file_that_stops_early_is_noticed(program: Program, tmp_path: Path) -> None:
    program.count(tmp_path)
    *lines, _ = (tmp_path / "out").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "out").write_text("".join(lines), encoding="utf-8")
    with pytest.raises(AssertionError, match="out stops after the mark hook"):
        read_intervals(tmp_path / "out")
