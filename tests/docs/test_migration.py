"""What docs/migration.md promises in place of USMP's names exists: words, values, verbs, options, files, names in C."""

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.cli import DATA, call, planned, succeed
from tests.support.doorbell import HEAD, application, program_output
from tests.support.page_files import generated, give_models
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT
from usmp_build.cli import VERBS
from usmp_build.manifest.defaults import IMPLICIT_POOLS
from usmp_build.manifest.explain import fields_of
from usmp_build.manifest.model import TABLES
from usmp_build.manifest.page import manifest_page
from usmp_build.manifest.tvmc.pools import FLAGS
from usmp_build.planner import by_name

PAGE = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")
WORDS = {key for table in TABLES for key in fields_of(table)}
MANIFEST = f"""
[project]
name = "doorbell"
[pools.dtcm]
access = "rw"
[pools.flash]
access = "ro"
[models.kws]
path = "{(DATA / "digits.tflite").as_posix()}"
names = {{ image = "audio" }}
"""
COMMANDS = {"usmp_add_plan", "add_usmp_model", "usmp_link_pools"}
VALUES = {*IMPLICIT_POOLS, *(pool.name for pool in IMPLICIT_POOLS.values()), '"on_demand"'}
"""Accesses, the pools that are there without being declared, and a word of programs."""
TVMC = {"c", "llvm", "-1"}
"""TVMC's values, of which the right side says what they become."""


def right_cells() -> list[str]:
    """What stands in the last column of the tables: our side."""
    rows = [line.strip("| ") for line in PAGE.splitlines() if line.startswith("| ")]
    return [row.rpartition(" | ")[2] for row in rows]


SPANS = sorted({span for cell in right_cells() for span in re.findall(r"`([^`]+)`", cell)})


@cache
def all_generated() -> tuple[frozenset[str], frozenset[str]]:
    """What all generated files declare, and their names: pools of ours, by default, and of the application."""
    names: set[str] = set()
    files: set[str] = set()
    without = MANIFEST.replace('[pools.flash]\naccess = "ro"\n', "")
    owned = re.sub(r'(access = "r[ow]"\n)', r'\1owner = "application"\n', MANIFEST)
    with TemporaryDirectory() as folder:
        for number, text in enumerate((MANIFEST, without, owned)):
            path, out = Path(folder) / f"{number}.toml", Path(folder) / f"out{number}"
            path.write_text(text, encoding="utf-8")
            succeed("generate", path, "--out", out)
            for file in out.iterdir():
                files.add(file.name)
                if file.suffix in DECLARATIONS:
                    names |= declared(file.read_text(encoding="utf-8"), DECLARATIONS[file.suffix])
    return frozenset(names), frozenset(files)


DECLARATIONS = {
    ".h": r"^#define (\w+)|((?:struct|enum) \w+)(?= \{)|(?<=[ *])(\w+)(?=\(|\[|;|,$| = | \{)",
    ".ld": r"^(\w+)(?= = )|^ *(\w+)(?= = \.;)|^(\.[\w.]+)(?= )",
}
"""Kind of file → its declarations: macros, types, functions, members and enumerators; symbols and sections."""


def declared(text: str, pattern: str) -> set[str]:
    """The names that a file declares; those in comments are none."""
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return {name for match in re.findall(pattern, code, re.MULTILINE) for name in match if name}


def is_there(span: str) -> bool:
    """Tell whether something that the page names is real."""
    if span.startswith("usmp-build "):
        return is_command(span.split()[1:])
    if match := re.fullmatch(r"(\w+) = (.+)", span):
        return match[1] in WORDS and all(f'"{text}"' in manifest_page() for text in re.findall(r'"([^"]+)"', match[2]))
    if match := re.fullmatch(r"\[(\w+)\.(\w+|\*)\]", span):
        return f"[{match[1]}.<name>]" in manifest_page()
    names, files = all_generated()
    name = re.sub(r"^enum usmp_status |\(.*", "", span)
    return name in {*WORDS, *VALUES, *files, *names, *COMMANDS, *by_name.ALGORITHMS, *TVMC}


def is_command(words: list[str]) -> bool:
    verb, *rest = words
    options = [word for word in rest if word.startswith("--")]
    return verb in VERBS and all(option in call(verb, "--help").out for option in options)


@pytest.mark.parametrize("span", SPANS)
def test_what_the_page_names_is_real(span: str) -> None:
    assert is_there(span)


@pytest.mark.parametrize(
    "span",
    [
        "usmp-build chekc",
        "usmp-build plan --jsno",
        "sise = 1",
        'io = "pol"',
        "[pols.x]",
        "KWS_SIZE",
        "x.ld",
        "kws_rum",
        "struct kws_run",
        "invalidate",
    ],
)
def test_the_test_finds_slips(span: str) -> None:
    assert not is_there(span)


TVM = """
#include <stdint.h>
#include <stdio.h>
#define TVMGEN_DEFAULT_DTCM_WORKSPACE_POOL_SIZE 16
struct tvmgen_default_workspace_pools { uint8_t *dtcm; };
struct tvmgen_default_inputs { const int8_t *audio; };
struct tvmgen_default_outputs { int8_t *scores; };
static int8_t samples[16], scores[16];
static void act_on(const int8_t *scores) { printf("%d\\n", scores[0]); }
static int tvmgen_default_run(const struct tvmgen_default_inputs *inputs, const struct tvmgen_default_outputs *outputs,
                              const struct tvmgen_default_workspace_pools *pools)
{
    return inputs->audio == NULL || outputs->scores == NULL || pools->dtcm == NULL;
}

int main(void)
{
    SNIPPET
    return 0;
}
"""
"""What TVM generated for a model, as far as an application sees it."""


@runs("docs/migration.md")
def test_the_way_of_a_project(page: Page, shell: Shell) -> None:
    give_models(shell.folder, kws="digits")
    shell.run(page.take("sh"))
    plan = planned(shell.folder / "usmp.toml")
    assert [pool["name"] for pool in plan["pools"]][:2] == ["dtcm", "sram"]

    (shell.folder / "nothing").mkdir()
    assert program_output(shell.folder / "nothing", shell.folder, page.take("c").within(TVM)) == "0\n"
    out = generated(shell.folder, f'{HEAD}io = "application"\n')
    assert program_output(out, shell.folder, application("int8_t scores[KWS_SCORES_SIZE];\n", page.take("c")))


def test_the_flags_are_all_of_tvmcs() -> None:
    named = set(re.findall(r"(?m)^\| `(--workspace-pools[a-z-]*)=", PAGE))
    assert named == FLAGS
