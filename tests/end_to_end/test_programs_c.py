"""C for programs: it compiles everywhere, and computes what the functions would compute without shared memory."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import call, manifest, planned, says, succeed
from tests.support.host_c import COMPILERS, HOSTILE, STRICT, compile_folder
from tests.support.processes import output
from tests.support.programs_c import (
    EVERYTHING,
    FUNCTIONS,
    MAIN,
    PORTS,
    SUMS,
    Item,
    alloc,
    const,
    function,
    invoke,
    loop,
    parameter,
    program,
    store,
)
from tests.support.tools import need
from tests.support.tree import ROOT, text_file

EXAMPLE = ROOT / "examples" / "program"
PAGES = '[pools.pages]\naccess = "rw"\ndims = 2\npage_bytes = 16\n'
APPLICATION = 'io = "application"'
WAYS = {"pool": ("", ""), "application": (APPLICATION, ""), "pages": (APPLICATION, PAGES)}


def asked(folder: Path, extra: str = "", pools: str = "") -> Path:
    return manifest(folder, f'[project]\nname = "q"\n{pools}[models.p]\npath = "p.program.json"\n{extra}\n')


def generate(folder: Path, extra: str = "", pools: str = "") -> Path:
    succeed("generate", asked(folder, extra, pools), "--out", folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program of everything: in pools, in the caller's arrays, in memory of pages."""
    folders = {}
    for way, (extra, pools) in WAYS.items():
        home = tmp_path_factory.mktemp(way)
        program(home, **EVERYTHING)
        folders[way] = generate(home, extra, pools)
    return folders


@pytest.mark.parametrize(("compiler", "standard"), COMPILERS, ids=lambda value: value)
def test_it_compiles_without_a_warning(generated: dict[str, Path], compiler: str, standard: str) -> None:
    for folder in generated.values():
        compile_folder(folder, compiler, standard)


@pytest.mark.parametrize(("compiler", "standard"), [("gcc", "-std=c99"), ("g++", "-std=c++17")])
@pytest.mark.parametrize("way", ["pool", "application"])
def test_it_runs(generated: dict[str, Path], tmp_path: Path, way: str, compiler: str, standard: str) -> None:
    """Two workers, functions in functions, parameters of other types, memory on demand."""
    need(compiler)
    (tmp_path / "functions.c").write_text(FUNCTIONS)
    (tmp_path / "main.c").write_text(MAIN)
    files = [*generated[way].glob("*.c"), tmp_path / "functions.c", tmp_path / "main.c"]
    language = ["-x", "c++"] if "++" in compiler else []
    options = [standard, *STRICT.split(), "-O2", *(["-DIN_POOL"] if way == "pool" else []), f"-I{generated[way]}"]
    subprocess.run([compiler, *options, *language, *files, "-o", tmp_path / "app"], check=True)
    printed = output([tmp_path / "app"])
    assert [*map(int, printed.split())] == SUMS


@pytest.mark.parametrize("way", ["pool", "application"])
@pytest.mark.parametrize("sanitize", [[], ["--sanitize"]], ids=["plain", "sanitize"])
def test_the_selftest_runs_it(tmp_path: Path, way: str, sanitize: list[str]) -> None:
    program(tmp_path, **EVERYTHING)
    (tmp_path / "functions.c").write_text(FUNCTIONS)
    path = asked(tmp_path, *WAYS[way])
    done = succeed("selftest", path, "--source", tmp_path / "functions.c", *sanitize)
    assert done.out.startswith("p: 1 tensors, 10 runs")


def test_the_selftest_finds_a_function_that_reads_what_nobody_wrote(tmp_path: Path) -> None:
    program(tmp_path, **EVERYTHING)
    (tmp_path / "functions.c").write_text(FUNCTIONS.replace("copy[i] = values[i];\n", ""))
    done = call("selftest", asked(tmp_path), "--source", tmp_path / "functions.c")
    assert done.code == 4
    assert "error[S605]: a function reads bytes that were never written" in done.err
    assert "look at the application's functions first" in done.err


def test_the_selftest_says_which_functions_are_missing(tmp_path: Path) -> None:
    program(tmp_path, **EVERYTHING)
    done = call("selftest", asked(tmp_path))
    assert "p_add, p_sum, p_twice, p_widen" in done.err


def test_the_header_says_what_a_function_gets(generated: dict[str, Path]) -> None:
    text = (generated["application"] / "p.h").read_text()
    assert "usmp_i16 *part; /* int16[5], 10 bytes; 2 copies, one for each worker, 10 bytes apart */" in text
    assert "#define P_WIDEN_PART_STRIDE 10\n" in text
    assert "const usmp_i32" not in text  # constants do not alias
    assert "const int32_t *start; /* int32[1], 4 bytes */" in text
    assert "/* It gets memory from q_allocate for: lazy */\nvoid p_sum(const usmp_i16 *x, void *y);\n" in text
    assert "void p_add(void *to, const uint8_t *weights, const float *nothing);" in text.replace("usmp_f32", "float")
    assert "add_buffers" not in text
    assert '#include "q.h"\n' in text
    hooks = (generated["application"] / "q.h").read_text()
    assert "void *q_allocate(size_t size, size_t alignment);\nvoid q_release(void *memory);\n" in hooks
    code = (generated["application"] / "p.c").read_text()
    assert "p_add(t3, (const uint8_t *)(const void *)q_constants_constants.weights, NULL);" in code.replace(
        "p_constants", "q_constants"
    )
    assert code.count("for (") == 2  # nothing is called in the third one
    table = (generated["pages"] / "p.h").read_text()
    assert "void p_sum(const usmp_i16 *const *x, void *y);" in table
    assert "#define P_WIDEN_PART_ROWS 1\n" in table
    assert "    usmp_i16 *const *part;" in table


def test_a_loop_of_one_round_is_what_is_in_it(tmp_path: Path) -> None:
    work = function([parameter("from", "uint8", 16), parameter("to", "int32", 4)], store("to", "from"))
    call_work = invoke("work", "x", "y")
    body = loop("serial", 1, call_work, loop("unrolled", 2, loop("serial", 1, call_work), call_work))
    program(tmp_path, function(PORTS, body), work=work)
    code = (generate(tmp_path) / "p.c").read_text()
    lines = [line for line in code.splitlines() if "p_work(" in line or "for (int32_t" in line]
    assert [line.split("(")[0] for line in lines] == ["    p_work", "    for ", "        p_work", "        p_work"]
    compile_folder(tmp_path / "out", "gcc", "-std=c99")


IN_PAGES = text_file("programs_c_in_pages.c")


def test_it_runs_in_memory_of_pages(tmp_path: Path) -> None:
    """Tables of rows: from main to functions, and of a function's own."""
    ports = [parameter("x", "uint8", 4, 8), parameter("y", "int32", 4)]
    spread = function([parameter("x", "uint8", 4, 8), parameter("y", "int16", 4, 8)], store("y", "x", whole=True))
    sums = alloc("sums", "int32", [4, 2], store("sums", "x", whole=True), store("y", "sums", whole=True))
    gather = function([parameter("x", "int16", 4, 8), parameter("y", "int32", 4)], sums)
    rows = alloc("rows", "int16", [4, 8], invoke("spread", "x", "rows"), invoke("gather", "rows", "y"))
    program(tmp_path, function(ports, rows), spread=spread, gather=gather)
    folder = generate(tmp_path, *WAYS["pages"])
    (tmp_path / "main.c").write_text(IN_PAGES)
    command = ["cc", "-std=c99", *STRICT.split(), "-O2", f"-I{folder}", *folder.glob("*.c"), tmp_path / "main.c"]
    subprocess.run([*command, "-o", tmp_path / "app"], check=True)
    printed = output([tmp_path / "app"])
    assert [*map(int, printed.split())] == [100 * (4 * 8 * row + 1 + 3 + 5 + 7) for row in range(4)]


def test_arrays_of_the_caller_are_aligned_as_the_functions_demand(tmp_path: Path) -> None:
    ports = [parameter("x", "uint8", 16), parameter("y", "uint8", 16)]
    inner = function([parameter("a", "int64", 2), parameter("b", "uint8", 16)], store("b", "a", whole=True))
    program(tmp_path, function(ports, invoke("f", "x", "y")), f=inner)
    code = (generate(tmp_path, APPLICATION) / "p.c").read_text()
    assert "inputs->x % 8 != 0" in code
    assert "outputs->y %" not in code


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    """Functions, parameters, buffers, constants: whatever they are called, in whatever order."""
    functions = {}
    names = [name[:1000] or "-" for name in HOSTILE]
    for number, name in enumerate([*names, "run", "RUN", "map_inputs", "buffers"]):
        hostile = [names[(number + i) % len(names)] for i in range(4)]
        a, b, c, d = (f"{text}{i % 2 or ''}" for i, text in enumerate(hostile))
        lazy = alloc("lazy */ /*", "int8", ["n"], store(b, a), on_demand=True)
        inner = alloc(c, "int8", [8], const(d, "int8", [8], "00" * 8, store(b, a, d, c), lazy))
        functions[name] = function([parameter(a, "int8", 4), parameter(b, "int32", 4)], inner)
    calls = [invoke(name, "x", "y") for name in functions]
    program(tmp_path, function(PORTS, *calls), **functions)
    folder = generate(tmp_path)
    for compiler, standard in COMPILERS[:1] + COMPILERS[2:3]:
        compile_folder(folder, compiler, standard)
    for file in folder.glob("p.[ch]"):
        text = file.read_text()
        assert text.isascii()
        assert not re.search(r"\b(evil|system)\s*\(", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))


def test_memory_on_demand_is_told(tmp_path: Path) -> None:
    lazy = alloc("lazy", "int8", ["n"], store("b", "a", "lazy"), on_demand=True)
    work = function([parameter("a", "int8", 4), parameter("b", "int32", 4)], lazy)
    program(tmp_path, function(PORTS, invoke("work", "x", "y")), work=work)
    done = call("plan", asked(tmp_path, APPLICATION))
    assert "p: memory on demand for work.lazy" in done.out
    plan = planned(asked(tmp_path, APPLICATION))
    assert plan["models"][0]["on_demand"] == ["work.lazy"]


def refusals(folder: Path, main: Item, extra: str = APPLICATION, pools: str = "", **functions: Item) -> list[str]:
    """What generate says, after plan has shown that there is a plan."""
    program(folder, main, **functions)
    path = asked(folder, extra, pools)
    assert call("plan", path).code == 0
    done = call("generate", path, "--out", folder / "out")
    assert done.code == 3 or done.code == 1, done.err
    return re.findall(r"error\[P305\]: (.*)\nhelp: .+", done.err)


WORK = function([parameter("a"), parameter("b")], store("b", "a"))


def test_what_main_may_not_do_is_refused_all_at_once(tmp_path: Path) -> None:
    body = [
        alloc(
            "s",
            "int8",
            [4],
            store("s", "x"),
            {"op": "call", "fn": "memcpy", "args": ["y"], "reads": [], "writes": ["y"]},
            loop("parallel", 4, invoke("work", "x", "y")),
            loop("serial", "n", invoke("work", "x", "y")),
        ),
        alloc("later", "int8", ["n"], invoke("work", "x", "later"), on_demand=True),
        alloc("register", "int8", [4], invoke("work", "x", "register"), scope="local"),
        const("hidden", "int8", [4], None, const("c", "int8", [4], "00000000", invoke("work", "hidden", "c"))),
    ]
    ports = [parameter("x"), parameter("y", "int32", 4)]
    assert refusals(tmp_path, function(ports, *body), work=WORK) == [
        'the bytes of constant "hidden" of "main" are not in the file',
        "main has a statement of its own: store to s, x",
        "main has a statement of its own: memcpy y",
        "main has a loop that runs in parallel (parallel)",
        "main has a loop whose number of rounds is unknown before it runs",
        'main has an allocation that is not planned: "later"',
        'main has an allocation that is not planned: "register"',
        'main calls "work" with constant "c", which it writes to',
        'parameter "x" of main has no type',
    ]


def test_a_parameter_in_both_kinds_of_memory_is_refused(tmp_path: Path) -> None:
    body = alloc("a", "int8", [4, 4], invoke("work", "x", "a"), invoke("work", "a", "y"))
    assert refusals(tmp_path, function(PORTS, body), pools=PAGES, work=WORK) == [
        f'parameter "{name}" of "work" is in banked memory in one call, and in plain memory in another'
        for name in ("a", "b")
    ]


@pytest.mark.parametrize("name", ["run", "reset", "map_inputs"])
def test_functions_with_a_name_of_ours_get_another(tmp_path: Path, name: str) -> None:
    inner = function([parameter("a"), parameter("b")], store("b", "a"))
    program(tmp_path, function(PORTS, invoke(name, "x", "y")), **{name: inner})
    header = (generate(tmp_path) / "p.h").read_text("utf-8")
    assert f"void p_{name}_2(" in header
    assert f"void p_{name}(" not in header


@pytest.mark.parametrize("name", ["run", "reset"])
def test_functions_that_make_a_name_of_another_model_are_refused(tmp_path: Path, name: str) -> None:
    inner = function([parameter("a"), parameter("b")], store("b", "a"))
    program(tmp_path, function(PORTS, invoke(f"of_{name}", "x", "y")), **{f"of_{name}": inner})
    other = '[models.p_of]\npath = "p.program.json"'
    says(call("generate", asked(tmp_path, other), "--out", tmp_path / "out"), 1, f"both make the name p_of_{name} in C")


def test_functions_that_make_one_name_are_refused(tmp_path: Path) -> None:
    inner = alloc("m", "int8", [4], store("m", "a"), store("b", "m"))
    functions = {name: function([parameter("a"), parameter("b")], inner) for name in ("f", "f_map_buffers")}
    program(tmp_path, function(PORTS, *(invoke(name, "x", "y") for name in functions)), **functions)
    done = call("generate", asked(tmp_path), "--out", tmp_path / "out")
    assert "error[P306]" in done.err
    assert "both make the name p_f_map_buffers in C" in done.err
    assert "rename one of the two in the program" in done.err


def test_plan_lists_the_functions() -> None:
    names = ["vision_fused_depthwise_conv2d_relu", "vision_fused_mean_dense"]
    plan = planned(EXAMPLE / "usmp.toml")
    assert plan["models"][0]["extern_functions"] == names
    shown = call("plan", EXAMPLE / "usmp.toml").out
    head = "the application supplies these functions (vision.h declares them):\n"
    assert head + "".join(f"  {name}\n" for name in names) in shown


@pytest.mark.parametrize("way", ["pool", "application"])
def test_an_output_that_is_read_and_an_input_that_is_not(tmp_path: Path, way: str) -> None:
    """`twice` is an output, and what `sum` reads; it lives to the end, wherever it is."""
    ports = [parameter("x", "int8", 4), parameter("unread", "int8", 4), parameter("twice", "int8", 4)]
    main = function([*ports, parameter("sum", "int8", 4)], invoke("f", "x", "twice"), invoke("f", "twice", "sum"))
    path = program(tmp_path, main, f=function([parameter("a"), parameter("b")], store("b", "a")))
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "outputs": ["twice", "sum"]}))
    code = "void p_f(const void *a, void *b) { for (int i = 0; i < 4; i++) ((int8_t *)b)[i] = ((const int8_t *)a)[i]; }"
    (tmp_path / "functions.c").write_text(f'#include "p.h"\n{code}\n')
    done = succeed("selftest", asked(tmp_path, WAYS[way][0]), "--source", tmp_path / "functions.c", "--sanitize")
    assert done.out.startswith("p: 2 tensors, 10 runs")


@pytest.mark.parametrize(("name", "bytes_"), [("int8", 64), ("int32", 256)])
def test_a_store_writes_over_what_it_reads_element_by_element(tmp_path: Path, name: str, bytes_: int) -> None:
    """`wide` lies on `narrow`; where its elements are larger, it starts earlier by what they grow."""
    ports = [parameter("x", "int8", 1), parameter("y", "int8", 1)]
    near = store("wide", "narrow", elementwise=["narrow"])
    calls = [invoke("fill", "x", "narrow"), invoke("widen", "narrow", "wide"), invoke("last", "wide", "y")]
    functions = {
        "fill": function([parameter("x"), parameter("out")], store("out", "x")),
        "widen": function([parameter("narrow", "int8", 64), parameter("wide", name, 64)], near),
        "last": function([parameter("wide"), parameter("y")], store("y", "wide")),
    }
    main = function(ports, alloc("narrow", "int8", [64], alloc("wide", name, [64], *calls)))
    program(tmp_path, main, **functions)
    width = "int8_t" if name == "int8" else "usmp_i32"
    (tmp_path / "functions.c").write_text(
        f"""#include "p.h"
#define EACH for (int i = 0; i < 64; i++)
void p_fill(const void *x, void *out) {{ EACH ((int8_t *)out)[i] = (int8_t)(*(const int8_t *)x ^ i); }}
void p_widen(const int8_t *narrow, {width} *wide) {{ EACH wide[i] = narrow[i]; }}
void p_last(const void *wide, void *y) {{ *(int8_t *)y = (int8_t)((const {width} *)wide)[63]; }}
"""
    )
    succeed("selftest", asked(tmp_path, APPLICATION), "--source", tmp_path / "functions.c")
    folder = generate(tmp_path, APPLICATION)
    (pool,) = (pool for pool in json.loads((folder / "plan.json").read_text())["pools"] if pool["size"])
    assert pool["size"] == bytes_
