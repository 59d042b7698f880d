"""The C itself: clean under every compiler at hand, no state, and structs as the Python side fills them."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.host_c import STRICT
from tests.support.kernels.cases import CASES
from tests.support.kernels.driver import HEADERS, PREFIX
from tests.support.kernels.pictures import PICTURES, by_rows, pictures
from tests.support.kernels.samples import COUNT, draw, kernel_of, other_kernels
from tests.support.tools import few, need
from usmp_build.interfaces.kernels import KernelCall, Reduce, Rows, Scratch, Value
from usmp_build.kernels import sources
from usmp_build.kernels.sources import functions

COMPILERS = {
    "gcc c99": ["gcc", "-std=c99", "-O2"],
    "gcc c11": ["gcc", "-std=c11", "-O3"],
    "g++ c++17": ["g++", "-x", "c++", "-std=c++17", "-O2"],
    "clang c99": ["clang", "-std=c99", "-O2"],
    "clang c++17": ["clang", "-x", "c++", "-std=c++17", "-Os"],
    "arm gcc": ["arm-none-eabi-gcc", "-std=c99", "-Os", "-mcpu=cortex-m0"],
}
ARM_GCC = ["arm-none-eabi-gcc", "-mthumb"]
ARM_CLANG = ["clang", "-ffreestanding", "-isystem", "/usr/lib/arm-none-eabi/include"]
HARD = "-mfloat-abi=hard"
ASSEMBLERS = {
    "scalar, arm gcc": [*ARM_GCC, "-mcpu=cortex-m3"],
    "scalar, clang": [*ARM_CLANG, "--target=thumbv7m-none-eabi", "-mcpu=cortex-m3"],
    "dsp, arm gcc": [*ARM_GCC, HARD, "-mcpu=cortex-m4"],
    "dsp, clang": [*ARM_CLANG, HARD, "--target=thumbv7em-none-eabi", "-mcpu=cortex-m4"],
    "mve, arm gcc": [*ARM_GCC, HARD, "-mcpu=cortex-m55"],
    "mve, clang": [*ARM_CLANG, HARD, "--target=thumbv8.1m.main-none-eabi", "-mcpu=cortex-m55"],
}
"""Compilers, by the instructions that their assembler has."""
HELIUM = {
    "conv_2d_f32_row": "vfma.f32",
    "conv_2d_s16_row": "vmlaldava.s16",
    "conv_2d_s8_row": "vmladava.s8",
    "fill": "vstrb.8",
    "log_softmax_s8": "vaddva.u32",
    "lookup_s8": "vldrb.u8",
    "mean_s16_row": "vldrh.s32",
    "mean_s8_row": "vldrb.s32",
    "pad": "vldrb.u8",
    "softmax_s8": "vstrbt.32",
}
"""An instruction of functions that use Helium where the compiler has it, whatever a target's `isa` says."""

FROM_THE_C_LIBRARY = {"memcpy", "memmove", "memset"}
FROM_ITS_MATHEMATICS = set("ceilf cosf erff exp expf floor floorf fmodf logf roundf sinf sqrtf tanhf".split())


def compile_(compiler: str, *arguments: str | Path, folder: Path) -> None:
    compile_with(COMPILERS[compiler], *arguments, folder=folder)


def compile_with(command: list[str], *arguments: str | Path, folder: Path) -> None:
    need(command[0])
    done = subprocess.run(
        [*command, *STRICT.split(), f"-I{HEADERS}", "-c", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def emitted(*names: str) -> str:
    c = sources.choose(names, PREFIX)
    return f'#include "usmp.h"\n\n{c.header}\n\n{c.source}\n'


@pytest.mark.parametrize("compiler", few(COMPILERS, 3))
@pytest.mark.long
def test_all_functions_compile_in_one_file(compiler: str, tmp_path: Path) -> None:
    (tmp_path / "all.c").write_text(emitted(*functions()), encoding="utf-8")
    compile_(compiler, "all.c", folder=tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("compiler", ["gcc c99", "clang c99"])
def test_every_function_compiles_with_what_it_needs_and_no_more(compiler: str, tmp_path: Path) -> None:
    """Clang also complains of inline functions that nobody calls."""
    for name in functions():
        (tmp_path / f"{name}.c").write_text(emitted(name), encoding="utf-8")
    compile_(compiler, "-fsyntax-only", *(f"{name}.c" for name in functions()), folder=tmp_path)


@pytest.mark.parametrize("compiler", ASSEMBLERS)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_assembly_is_what_assemblers_accept(compiler: str, level: str, tmp_path: Path) -> None:
    names = {name for name in functions() if f"_{compiler.partition(',')[0]}" in name}
    names |= HELIUM.keys()
    for name in names:
        (tmp_path / f"{name}.c").write_text(emitted(name), encoding="utf-8")
    command = [*ASSEMBLERS[compiler], "-std=c99", level]
    compile_with(command, *(f"{name}.c" for name in names), folder=tmp_path)


@pytest.mark.parametrize("name", HELIUM)
def test_helium_is_used_where_the_compiler_has_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "kernel.c").write_text(emitted(name), encoding="utf-8")
    has = []
    for processor in ("cortex-m33", "cortex-m55"):
        command = [*ARM_GCC, f"-mcpu={processor}", "-std=c99", HARD, "-O2", "-S", "-o", "kernel.s"]
        compile_with(command, "kernel.c", folder=tmp_path)
        has.append(HELIUM[name] in (tmp_path / "kernel.s").read_text("utf-8"))
    assert has == [False, True]


@pytest.mark.long
def test_kernels_keep_nothing_and_call_little(tmp_path: Path) -> None:
    (tmp_path / "all.c").write_text(emitted(*functions()), encoding="utf-8")
    compile_("gcc c99", "all.c", folder=tmp_path)
    listed = subprocess.run(["nm", "all.o"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    symbols = [line.split()[-2:] for line in listed.splitlines()]
    assert {name for kind, name in symbols if kind == "U"} <= FROM_THE_C_LIBRARY | FROM_ITS_MATHEMATICS
    assert {kind for kind, _ in symbols} <= set("UTtr")
    assert {name for kind, name in symbols if kind == "T"} == {f"{PREFIX}_{name}" for name in functions()}


@pytest.mark.long
def test_structs_have_the_fields_that_python_fills() -> None:
    used = {name: f"{PREFIX}_{name}" for name in functions()}
    header = sources.choose(used, PREFIX).header
    structs = dict(re.findall(rf"struct {PREFIX}_(\w+) \{{\n(.*?)\}};", header, re.DOTALL))
    seen = set()
    for call in calls():
        assert call.parameters is not None
        fields = re.findall(r"(\w+) (\w+(?:\[\d+\])?);", structs[call.parameters.struct])
        assert fields == [member(name, value) for name, value in call.parameters.fields]
        seen.add(call.parameters.struct)
    assert seen == structs.keys()


def member(name: str, value: Value) -> tuple[str, str]:
    """Return the type and the declarator of a struct's member that has this value."""
    if isinstance(value, tuple):
        return member(f"{name}[{len(value)}]", value[0])
    return {int: "int32_t", float: "float"}[type(value)], name


@pytest.mark.long
def test_prototypes_take_the_operands_that_python_passes() -> None:
    header = sources.choose(functions(), PREFIX).header
    prototypes = {name: text.split(",") for name, text in re.findall(rf"{PREFIX}_(\w+)\(([^)]*)\);", header)}
    names = {"Whole": [""], "Rows": [""], "Pieces": [""], "Reduce": ["_begin", "_row", "_finish"]}
    for call in calls():
        form = type(call.form).__name__
        counts = [len(prototypes[call.function + suffix]) for suffix in names[form]]
        expected = [1 + len(call.operands)]
        if isinstance(call.form, Reduce):
            scratch = call.operands.index(Scratch(0))
            expected = [2, 2 + scratch + call.form.numbered, 1 + len(call.operands) - scratch]
        elif isinstance(call.form, Rows):
            expected[0] += call.form.numbered
        assert counts == expected


def calls() -> Iterator[KernelCall]:
    kernels = [kernel_of(case) for kind in CASES for case in draw(kind)]
    rows = [kernel for kind in PICTURES for case in pictures(kind, COUNT) if (kernel := by_rows(case))]
    rows += [kernel.by_rows for kernel in kernels if kernel.by_rows]
    for kernel in [*kernels, *rows, *other_kernels()]:
        yield from kernel.calls
