"""Pools of the application: passed to every run, so that instances of a model do not know of each other."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import DATA, DIGITS, ODD_EVEN, PASSED, RO, RW, call, manifest, says, succeed, tables
from tests.support.host_c import COMPILERS, built, compile_folder
from tests.support.processes import run
from tests.support.programs_c import EVERYTHING, alloc, const, function, invoke, parameter, program, store
from tests.support.tools import few
from tests.support.tree import text_file

MANIFEST = tables(
    "two",
    {"fast": f'{RW}{PASSED}alignment = 32\nsize = "512 B"\n', "sram": RW + PASSED, "flash": RO + PASSED},
    {"digits": DIGITS, "odd_even": f'{ODD_EVEN}io = "application"\n'},
)

SETS = text_file("owners_sets.c")

THREADS = (
    SETS
    + """
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int8_t pictures[2][100][64];
static int8_t scores[2][100][10];
static enum usmp_status statuses[2][100];

static void *work(void *argument)
{
    const int set = *(const int *)argument;

    for (int i = 0; i < 100; ++i) {
        memcpy(digits_map_inputs(&sets[set]).image, pictures[set][i], 64);
        statuses[set][i] = digits_run(&sets[set], &constants);
        memcpy(scores[set][i], digits_map_outputs(&sets[set]).scores, 10);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int numbers[2] = { 0, 1 };

    if (two_check_flash(flash) != USMP_OK || fread(pictures, 1, sizeof pictures, stdin) != sizeof pictures) {
        return 1;
    }
    for (int i = 0; i < 2; ++i) {
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < 2; ++i) {
        pthread_join(threads[i], NULL);
        for (int run = 0; run < 100; ++run) {
            if (statuses[i][run] != USMP_OK) {
                return 2;
            }
        }
    }
    fwrite(scores, 1, sizeof scores, stdout);
    return 0;
}
"""
)

WRONG = (
    SETS
    + """
#include <stdio.h>

#define SAY(status) printf("%d ", (int)(status))

int main(void)
{
    const struct digits_workspace_pools none = { fast[0], NULL };
    const struct digits_workspace_pools odd = { fast[0] + 16, sram[0] };
    const struct digits_constant_pools no_constants = { NULL };
    const struct digits_constant_pools moved = { flash + 1 };
    const struct digits_constant_pools others = { sram[0] };

    SAY(digits_run(NULL, &constants));
    SAY(digits_run(&none, &constants));
    SAY(digits_run(&odd, &constants));
    SAY(digits_run(&sets[0], NULL));
    SAY(digits_run(&sets[0], &no_constants));
    SAY(digits_run(&sets[0], &moved));
    SAY(digits_run(&sets[0], &others));
    SAY(digits_run(&sets[0], &constants));
    SAY(digits_map_inputs(NULL).image == NULL);
    SAY(digits_map_inputs(&none).image == NULL);
    SAY(digits_map_outputs(&odd).scores == NULL);
    SAY(digits_map_inputs(&sets[1]).image != NULL);
    SAY(two_check_flash(NULL));
    SAY(two_check_flash(flash + 1));
    SAY(two_check_flash(flash));
    return 0;
}
"""
)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("owners")
    succeed("generate", manifest(home, MANIFEST), "--out", home / "out")
    return home / "out"


@pytest.mark.parametrize(("compiler", "standard"), COMPILERS, ids=lambda value: value)
@pytest.mark.parametrize("definition", few(["-DUSMP_HOOK", "-DNDEBUG"], 1))
@pytest.mark.long
def test_it_compiles_without_a_warning(generated: Path, compiler: str, standard: str, definition: str) -> None:
    compile_folder(generated, compiler, standard, definition)


@pytest.mark.slow
def test_the_generated_code_has_no_array(generated: Path) -> None:
    source = (generated / "two_pools.c").read_text()
    assert "_pool[" not in source
    assert "const struct digits_flash_constants digits" not in source


@pytest.mark.slow
def test_two_instances_run_at_once(generated: Path, tmp_path: Path) -> None:
    """The guard of debug builds takes part, and is free of races, too."""
    program = built(generated, tmp_path, THREADS, "gcc", "-fsanitize=thread", "-g", "-pthread")
    with np.load(DATA / "golden" / "digits.npz") as golden:
        pictures, wanted = golden["input_0"], golden["output_0"]
    order = np.arange(200) % len(pictures)
    done = subprocess.run([program], input=pictures[order].tobytes(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == wanted[order].tobytes()


@pytest.mark.slow
def test_the_header_says_whether_runs_may_take_place_at_the_same_time(generated: Path, tmp_path: Path) -> None:
    """They may not in a workspace of the generated code, of which there is one."""
    header = (generated / "digits.h").read_text()
    assert " * Runs in different sets of pools may take place at the same time. */" in header
    assert " * That is said of one set of pools." in header
    mixed = MANIFEST.replace(f"[pools.fast]\n{RW}{PASSED}", f"[pools.fast]\n{RW}")
    assert call("generate", manifest(tmp_path, mixed), "--out", tmp_path / "out").code == 0
    header = (tmp_path / "out" / "digits.h").read_text()
    assert "may take place" not in header
    assert " * It runs in pool fast of the generated code, too, which is there once:\n" in header
    assert " * so runs in different sets of pools may not take place at the same time. */" in header
    assert " * That is said of all sets of pools." in header


@pytest.mark.slow
def test_the_header_names_all_workspaces_of_the_generated_code(tmp_path: Path) -> None:
    pools = {"fast": f"{RW}size = 64\n", "slow": f"{RW}size = 64\n", "sram": RW + PASSED}
    path = manifest(tmp_path, tables("p", pools, {"digits": DIGITS}))
    assert call("generate", path, "--out", tmp_path / "out").code == 0
    header = (tmp_path / "out" / "digits.h").read_text()
    assert " * It runs in pools fast, slow of the generated code, too, which are there once:\n" in header


@pytest.mark.slow
def test_wrong_pools_are_refused(generated: Path, tmp_path: Path) -> None:
    program = built(generated, tmp_path, WRONG, "gcc", "-fsanitize=address,undefined")
    done = run([program])
    assert done.out.split() == [*"1121", *"1240", *"1111", *"120"], done.err


@pytest.mark.slow
@pytest.mark.parametrize("io", few(["pool", "application"], 1))
def test_every_tensor_is_exact(tmp_path: Path, io: str) -> None:
    pytest.importorskip("tflite_micro")
    path = manifest(tmp_path, MANIFEST.replace('io = "application"', f'io = "{io}"'))
    done = succeed("selftest", path, "--runs", 2, "--sanitize")
    assert done.out.count("all equal to those of TensorFlow Lite Micro") == 2


def test_the_linker_allows_several_arrays(generated: Path) -> None:
    fragment = (generated / "two.ld").read_text()
    assert "ASSERT(SIZEOF(.usmp.two.sram) >= " in fragment
    assert "DEFINED(two_" not in fragment


def test_functions_that_ask_for_their_buffers_are_refused(tmp_path: Path) -> None:
    program(tmp_path, EVERYTHING["main"], **{name: f for name, f in EVERYTHING.items() if name != "main"})
    path = manifest(tmp_path, tables("p", {"sram": RW + PASSED, "flash": RO}, {"m": PROGRAM}))
    done = call("generate", path, "--out", tmp_path / "out")
    assert done.code == 1
    message = 'function "twice" asks for "copy", which is in pool "sram" of the application: it gets no pointer to it'
    assert f"error[P351]: {message}" in done.err
    assert 'help: let it live in pools with owner = "generated"' in done.err


STATES = text_file("owners_states.c")


def test_instances_have_variables_of_their_own(tmp_path: Path) -> None:
    models = {"stateful": 'path = "DATA/stateful.tflite"\n'}
    path = manifest(tmp_path, tables("p", {"sram": RW + PASSED}, models))
    assert call("generate", path, "--out", tmp_path / "out").code == 0
    program = built(tmp_path / "out", tmp_path, STATES, "gcc", "-fsanitize=address,undefined")
    done = run([program])
    *statuses, first, second, third, fourth = done.out.split()
    assert statuses == ["0", "0", "1"]
    assert (first, second) == (third, fourth), done.err
    assert first != second


CONSTANT_OUTPUT = """
model "m"
subgraph 0 "main"
  %0 "x" float32[2]
  %1 "table" float32[2] = [1.0, 2.0]
  %2 "y" float32[2]
  inputs %0
  outputs %2, %1
  %2 = ADD(%0, %1) @0
"""


def test_an_output_that_is_a_constant_is_refused(tmp_path: Path) -> None:
    """Whoever maps the outputs is not passed constants."""
    (tmp_path / "m.model.txt").write_text(CONSTANT_OUTPUT)
    path = manifest(tmp_path, tables("p", {"flash": RO + PASSED}, {"m": 'path = "m.model.txt"\n'}))
    done = call("generate", path, "--out", tmp_path / "out")
    says(done, 1, 'error[P352]: output "table" is a constant in pool "flash" of the application')


def test_pools_in_capitals_are_members_unless_they_are_macros(tmp_path: Path) -> None:
    capitals, macro = (tables("p", {pool: RW + PASSED}, {"digits": DIGITS}) for pool in ("SRAM", "DIGITS_IMAGE_SIZE"))
    assert call("generate", manifest(tmp_path, capitals), "--out", tmp_path / "out").code == 0
    assert "    uint8_t *SRAM;\n" in (tmp_path / "out" / "digits.h").read_text()
    done = call("generate", manifest(tmp_path, macro), "--out", tmp_path / "other")
    says(done, 1, "both make the name DIGITS_IMAGE_SIZE in C")


@pytest.mark.parametrize("name", ["x_crc", "x_check", "x_check_sram"])
@pytest.mark.parametrize("access", [RO, RW])
def test_functions_named_like_what_checks_seals(tmp_path: Path, name: str, access: str) -> None:
    """Only constant pools of the application have seals."""
    inner = function([parameter("a"), parameter("b")], store("b", "a"))
    ports = [parameter("x", "int8", 4), parameter("y", "int8", 4)]
    program(tmp_path, function(ports, invoke(name, "x", "y")), **{name: inner})
    path = manifest(tmp_path, tables("p_x", {"sram": access + PASSED}, {"p": PROGRAM}))
    done = call("generate", path, "--out", tmp_path / "out")
    assert done.code == (1 if access == RO else 0), done.err
    assert (f"both make the name p_{name} in C" in done.err) == (access == RO)


PROGRAM = 'path = "p.program.json"\n'

FUNCTIONS = text_file("owners_functions.c")


def test_main_of_a_program_passes_what_is_the_applications(tmp_path: Path) -> None:
    calls = invoke("spread", "x", "wide"), invoke("add", "wide", "more", "y")
    body = alloc("wide", "int16", [4], const("more", "int16", [4], "0100020003000400", *calls))
    pointers = [[parameter("from", "int8", 4), parameter("to", "int16", 4)]]
    pointers += [[parameter(name, "int16", 4) for name in ("from", "more", "to")]]
    spread, add = (function(each, store("to", *(p["name"] for p in each[:-1]))) for each in pointers)
    main = function([parameter("x", "int8", 4), parameter("y", "int16", 4)], body)
    program(tmp_path, main, spread=spread, add=add)
    text = tables("p", {"sram": RW + PASSED, "flash": RO + PASSED}, {"m": PROGRAM})
    succeed("generate", manifest(tmp_path, text), "--out", tmp_path / "out")
    executable = built(tmp_path / "out", tmp_path, FUNCTIONS, "gcc", "-fsanitize=address,undefined")
    printed = run([executable])
    assert printed.out.split() == ["1", "1002", "2003", "3004"], printed.err
