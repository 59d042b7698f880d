"""The generated C: clean for every compiler and standard, whatever the names in models and manifests are."""

import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import stateful
from tests.support.cli import DATA, DIGITS, PASSED, RW, TWO_MODELS, call, manifest, one_model, succeed, tables
from tests.support.host_c import COMPILERS, HOSTILE, STRICT, compile_folder
from tests.support.processes import output, run
from tests.support.tools import few, need
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.graph import Model
from usmp_build.textual.text import write

MODELS = ["branchy", "kitchen_a", "kitchen_b", "quantized_io", "float_net", "stateful", "svdf", "sums"]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Folders: two models together, then each other model by itself, in the caller's arrays."""
    home = tmp_path_factory.mktemp("generated")
    folders = [home / "two"]
    assert call("generate", manifest(home, TWO_MODELS), "--out", folders[0]).code == 0
    (home / "svdf.tflite").write_bytes(stateful.svdf(np.random.default_rng(1)))
    (home / "sums.tflite").write_bytes(stateful.accumulators(np.random.default_rng(6)))
    for name in MODELS:
        folders.append(home / name)
        model = home / f"{name}.tflite"
        path = one_model(name, 'io = "application"', model.as_posix() if model.exists() else "")
        path = manifest(home, path, f"{name}.toml")
        succeed("generate", path, "--out", folders[-1])
    return folders


@pytest.mark.slow
@pytest.mark.parametrize(("compiler", "standard"), COMPILERS, ids=lambda value: value)
@pytest.mark.parametrize("hook", few(["plain", "hook"], 1))
def test_it_compiles_without_a_warning(generated: list[Path], compiler: str, standard: str, hook: str) -> None:
    for folder in generated:
        if hook == "hook":
            compile_folder(folder, compiler, standard, "-DUSMP_HOOK", mentioning="USMP_TRACE")
        else:
            compile_folder(folder, compiler, standard)


def test_a_header_of_another_version_is_refused(generated: list[Path], tmp_path: Path) -> None:
    shutil.copytree(generated[0], tmp_path / "two")
    runtime = tmp_path / "two" / "usmp.h"
    runtime.write_text(runtime.read_text().replace("#define USMP_ABI 2", "#define USMP_ABI 1"))
    done = run(["cc", "-c", "digits.c"], tmp_path / "two")
    assert "generate both again" in done.err


def test_who_loads_in_a_way_of_their_own_stores_so_too(generated: list[Path]) -> None:
    command = ["cc", "-std=c99", "-fsyntax-only", "-DUSMP_LOAD(place)=(place)"]
    for more, wanted in (([], "define USMP_STORE(place, value), too"), (["-DUSMP_STORE(place, value)=(place)"], "")):
        done = run([*command, *more, "usmp.h"], generated[0])
        assert (done.code != 0) == bool(wanted)
        assert wanted in done.err


def test_comments_say_what_the_numbers_beside_them_are(generated: list[Path]) -> None:
    header = (generated[0] / "digits.h").read_text()
    assert re.search(r"real = [\d.e-]+f \* \(q \+ 128\)", header)
    assert "- -" not in header
    code = (generated[0] / "digits.c").read_text()
    assert "below 0, the\n * right one may start earlier by as much" in code
    assert "int8_t *)(void *)" not in code
    guard = (generated[0] / "two_guard.h").read_text()
    assert "enum { TWO_GUARD_DIGITS = 0, TWO_GUARD_ODD_EVEN = 1 };" in guard
    assert "two_enter(TWO_GUARD_DIGITS, bases, 2)" in code
    assert "extern uint8_t two_sram_pool[];" in guard
    assert "extern uint8_t" not in code


def test_a_compiler_of_which_nothing_is_known_is_told_about_types_that_alias(generated: list[Path]) -> None:
    """What is neither gcc nor clang must be told: this one has their attribute, under no name that `usmp.h` knows."""
    unknown = [
        "gcc",
        "-std=c99",
        "-ffreestanding",
        "-U__GNUC__",
        "-DUSMP_ALIGNED(bytes)=",
        "-fsyntax-only",
        "-fno-diagnostics-show-caret",
    ]

    def stopped_at(*defined: str) -> list[str]:
        command = [*unknown, *defined, "usmp.h"]
        done = run(command, generated[0])
        assert (done.code == 0) == ("#error" not in done.err), done.err
        return re.findall(r"#error \"(.*?)\"", done.err)

    assert stopped_at() == [
        "switch off type-based alias analysis (IAR: --no_tbaa), then define USMP_MAY_ALIAS as nothing"
    ]
    assert stopped_at("-DUSMP_MAY_ALIAS=") == []
    assert stopped_at("-D_MSC_VER=1900") == []


@pytest.mark.parametrize("standard", ["c99", "c11"])
def test_machines_whose_int_has_16_bits_are_refused(generated: list[Path], standard: str) -> None:
    """Kernels would compile there, and overflow: `short` stands in for such an `int`."""
    source = "#include <stddef.h>\n#include <stdint.h>\n#define int short\n#include <usmp.h>\n"
    command = ["cc", f"-std={standard}", "-I.", "-fsyntax-only", "-xc", "-"]
    done = run(command, generated[0], stdin=source)
    assert done.code != 0
    assert "int_has_32_bits" in done.err
    assert run(command, generated[0], stdin=source.replace("#define int short\n", "")).code == 0


@pytest.mark.parametrize("standard", ["c99", "c11"])
def test_the_compiler_finds_exactly_the_plans_that_are_broken(tmp_path: Path, standard: str) -> None:
    """Move every buffer by one byte either way: where that breaks the plan, and only there, the C must not compile.

    Layer by layer: offsets of rows are in tables, which no compiler checks.
    """
    path = manifest(tmp_path, f"{TWO_MODELS}\n[plan]\nrows = false\n")
    assert call("generate", path, "--out", tmp_path / "two").code == 0
    source = tmp_path / "two" / "digits.c"
    text = source.read_text()
    plan = json.loads((tmp_path / "two" / "plan.json").read_text())
    buffers = [b for b in plan["buffers"] if b["model"] == "digits" and b["kind"] != "constant"]
    verdicts = []
    for match in re.finditer(r"(\w+_OFFSET) = (\d+),.*/\* (\w+)  ([^*]*\))  +(.*) \*/", text):
        name, offset, buffer = match[1], int(match[2]), next(b for b in buffers if b["name"] == f"digits.{match[5]}")
        assert (buffer["pool"], buffer["offset"]) == (match[3], offset)
        for moved in (offset - 1, offset + 1):
            source.write_text(text.replace(f"{name} = {offset},", f"{name} = {moved},"))
            command = ["cc", f"-std={standard}", "-fsyntax-only", source.name]
            done = run(command, source.parent)
            broken = breaks(buffer, moved, buffers)
            assert (done.code != 0) == broken, f"{name} = {moved}: {done.err}"
            verdicts.append(broken)
    assert len(verdicts) == 2 * len(buffers)
    assert any(verdicts)


def breaks(buffer: dict[str, Any], offset: int, buffers: list[dict[str, Any]]) -> bool:
    """Whether a buffer at another offset leaves what its model has of the pool, or meets another one alive."""
    mates = [b for b in buffers if b["pool"] == buffer["pool"]]
    end = offset + buffer["size"]
    alive = [
        b
        for b in mates
        if b is not buffer and any(s < t2 and s2 < t for s, t in b["intervals"] for s2, t2 in buffer["intervals"])
    ]
    overlaps = any(offset < b["offset"] + b["size"] and b["offset"] < end for b in alive)
    outside = offset < 0 or end > max(b["offset"] + b["size"] for b in mates)
    return overlaps or outside or offset % buffer["alignment"] != 0


def hostile(model: Model) -> Model:
    """Rename every tensor, signature and subgraph to something that wants to break out."""
    main = model.main
    names = [HOSTILE[i % len(HOSTILE)] for i in range(len(main.tensors))]
    tensors = tuple(replace(tensor, name=name) for tensor, name in zip(main.tensors, names, strict=True))
    ports = [
        tuple(replace(p, name=HOSTILE[i]) for i, p in enumerate(s)) for s in (model.input_names, model.output_names)
    ]
    graph = replace(main, name=HOSTILE[0], tensors=tensors)
    return replace(model, subgraphs=(graph,), input_names=ports[0], output_names=ports[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["digits", "kitchen_a"])
def test_hostile_names_stay_names(tmp_path: Path, name: str) -> None:
    evil = hostile(import_tflite((DATA / f"{name}.tflite").read_bytes(), name, ""))
    (tmp_path / "evil.model.txt").write_text(write(evil), encoding="utf-8")
    path = manifest(tmp_path, one_model("evil", path=(tmp_path / "evil.model.txt").as_posix()))
    succeed("generate", path, "--out", tmp_path / "out")
    compile_folder(tmp_path / "out", "gcc", "-std=c99")
    for file in (tmp_path / "out").iterdir():
        text = file.read_text(encoding="utf-8")
        assert text.isascii()
        if file.suffix in {".c", ".h"}:
            code = _without_comments(file)
            assert not re.search(r"\b(evil|system)\s*\(", code)


def _without_comments(file: Path) -> str:
    done = subprocess.run(["cc", "-fpreprocessed", "-dD", "-E", "-P", file], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
@pytest.mark.parametrize("compiler", ["gcc", "clang", "arm-none-eabi-gcc"])
def test_every_section_is_as_planned(generated: list[Path], tmp_path: Path, compiler: str, level: str) -> None:
    """Nothing between the objects of a pool, and no other order than the plan's."""
    need(compiler)
    for folder in generated:
        plan = json.loads((folder / "plan.json").read_text())
        (source,) = folder.glob("*_pools.c")
        target = tmp_path / "pools.o"
        subprocess.run([compiler, "-std=c99", level, "-c", source.name, "-o", target], cwd=folder, check=True)
        listed = output(["size", "-A", target])
        sizes = dict(line.split()[:2] for line in listed.splitlines() if line.count(" ") > 2)
        symbols = output(["nm", target])
        for pool in plan["pools"]:
            name = pool["name"]
            assert int(sizes.get(pool["section"], 0)) == pool["size"], name
            for value, owner in re.findall(rf"^(\w+) . (\w+)_{name}_constants$", symbols, re.MULTILINE):
                assert int(value, 16) == first_constant(plan, owner, name), (name, owner)


def first_constant(plan: dict[str, Any], owner: str, pool: str) -> int:
    """Where the constants of a model begin in a pool; of what is shared, `<project>_shared`."""
    shared = owner == f"{plan['project']}_shared"
    mine = [b for b in plan["buffers"] if b["kind"] == "constant" and b["pool"] == pool]
    return min(b["offset"] for b in mine if (bool(b["shared_with"]) if shared else b["model"] == owner))


def test_c_is_short_and_names_what_it_does(generated: list[Path]) -> None:
    """What a reader of digits.c relies on."""
    text = (generated[0] / "digits.c").read_text()
    assert "Generated by usmp_build" in text
    assert "Do not edit" in text
    assert "no rights in it" in text
    assert text.count("enum usmp_status digits_run(void)\n") == 1
    assert max(map(len, text.splitlines())) <= 160
    kernels = (generated[0] / "two_kernels.c").read_text()
    assert "SPDX-License-Identifier: Apache-2.0" in kernels
    assert "f32" not in kernels  # only what the models call


def test_a_header_says_how_many_elements_and_of_which_file(generated: list[Path]) -> None:
    header = (generated[0] / "digits.h").read_text()
    digest = hashlib.sha256((DATA / "digits.tflite").read_bytes()).hexdigest()
    assert f"\n * sha256 of the model file: {digest}\n" in header
    assert ".image: int8[1,8,8,1]  " in header
    program = """
    #include "digits.h"
    static const int dims[DIGITS_IMAGE_RANK] = DIGITS_IMAGE_DIMS;
    int main(void)
    {
        int product = 1;
        for (int i = 0; i < DIGITS_IMAGE_RANK; ++i) {
            product *= dims[i];
        }
        return product != DIGITS_IMAGE_ELEMENTS || DIGITS_IMAGE_ELEMENTS != 64 || DIGITS_SCORES_RANK != 2;
    }
    """
    for language, standard in (("c", "-std=c99"), ("c++", "-std=c++17")):
        command = [
            "gcc",
            standard,
            *STRICT.split(),
            "-O2",
            f"-I{generated[0]}",
            "-x",
            language,
            "-",
            "-o",
            generated[0] / "dims",
        ]
        subprocess.run(command, input=program, text=True, check=True)
        subprocess.run([generated[0] / "dims"], check=True)


def test_elements_are_not_bytes_and_a_scalar_has_no_dimensions(tmp_path: Path) -> None:
    tensors = '  %0 "x" float32[2,3]\n  %1 "s" float32[]\n  %2 "y" float32[2,3]\n'
    graph = f'model "m"\nsubgraph 0 "main"\n{tensors}  inputs %0, %1\n  outputs %2\n  %2 = MUL(%0, %1) @0\n'
    (tmp_path / "m.model.txt").write_text(graph, encoding="utf-8")
    path = manifest(tmp_path, one_model("m", path="m.model.txt"))
    assert call("generate", path, "--out", tmp_path / "out").code == 0
    macros = dict(re.findall(r"#define (M_[XS]_\w+) (.*)", (tmp_path / "out" / "m.h").read_text()))
    assert macros == {
        "M_X_SIZE": "24",
        "M_X_ELEMENTS": "6",
        "M_X_RANK": "2",
        "M_X_DIMS": "{ 2, 3 }",
        "M_S_SIZE": "4",
        "M_S_ELEMENTS": "1",
        "M_S_RANK": "0",
    }
    digest = hashlib.sha256(graph.encode()).hexdigest()
    assert digest in (tmp_path / "out" / "m.h").read_text()


@pytest.mark.parametrize(
    ("models", "concurrent", "pool", "message"),
    [
        ("a", [], "", "While it runs, do not start it again, not even from an interrupt or another thread."),
        ("a", [], PASSED, "While it runs, do not start it again in the same workspace pools, not even"),
        (
            "abc",
            [],
            "",
            "Models of this plan share memory: while this one runs, start no other, nor this one again, not",
        ),
        (
            "abc",
            ["bc"],
            "",
            "Models of this plan share memory: while this one runs, start no other, nor this one again",
        ),
        ("abc", ["ab"], "", "It may run at the same time as b, but with no other model of this plan, and never twice"),
        ("abc", ["ab", "ac"], "", "It may run at the same time as b and c, but never twice at once,"),
    ],
)
def test_a_header_says_what_may_not_run_at_the_same_time(
    tmp_path: Path, models: str, concurrent: list[str], pool: str, message: str
) -> None:
    pairs = f"concurrent = {[list(pair) for pair in concurrent]}\n"
    text = tables("p", {"sram": RW + pool}, dict.fromkeys(models, DIGITS)) + "[plan]\nrows = false\n"
    assert call("generate", manifest(tmp_path, pairs + text), "--out", tmp_path / "out").code == 0
    header = (tmp_path / "out" / "a.h").read_text().replace("\n * ", " ")
    assert message in header
    assert "Only builds with USMP_GUARD (by default those without NDEBUG) detect that, and return USMP_BUSY." in header


def test_the_linker_fragment_places_checks_and_names_every_pool(generated: list[Path]) -> None:
    text = (generated[0] / "two.ld").read_text()
    assert ".usmp.two.tcm (NOLOAD) : ALIGN(16)" in text
    assert "} > DTCM" in text
    assert "KEEP(*(.usmp.two.sram))" in text
    assert ".usmp.two.flash : ALIGN(16)" in text  # constants are loaded
    for pool in ("tcm", "sram", "flash"):
        assert f"__usmp_{pool}_start = .;" in text
        assert f"ASSERT(SIZEOF(.usmp.two.{pool}) == " in text
    assert "LONG" not in (generated[0] / "two_copy_table.ld").read_text()


def test_a_pool_that_is_used_elsewhere_is_in_the_copy_table(tmp_path: Path) -> None:
    itcm = 'region = "ITCM"\nload_region = "FLASH"'
    text = one_model("odd_even").replace("[models", f'[pools.itcm]\naccess = "ro"\n{itcm}\n[models')
    assert call("generate", manifest(tmp_path, text), "--out", tmp_path).code == 0
    fragment = (tmp_path / "p.ld").read_text()
    assert "} > ITCM AT> FLASH\n" in fragment
    assert "__usmp_itcm_load = LOADADDR(" in fragment
    section = ".usmp.p.itcm"
    entry = f"LONG(LOADADDR({section})) LONG(ADDR({section})) LONG(SIZEOF({section}) / 4)\n"
    assert entry in (tmp_path / "p_copy_table.ld").read_text()
    assert "usmp_x(itcm, RO) \\\n    usmp_x(workspace, RW)\n" in (tmp_path / "p.h").read_text()
