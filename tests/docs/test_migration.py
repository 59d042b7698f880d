"""docs/migration.md: a project of TVM becomes one of ours as it says, with every flag of TVMC."""

import re

from tests.support.cli import planned
from tests.support.doorbell import HEAD, application, said
from tests.support.page_files import generated, give_models
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT
from usmp_build.manifest.tvmc.pools import FLAGS

PAGE = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")
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
    assert said(shell.folder / "nothing", shell.folder, page.take("c").within(TVM)) == "0\n"
    out = generated(shell.folder, f'{HEAD}io = "application"\n')
    assert said(out, shell.folder, application("int8_t scores[KWS_SCORES_SIZE];\n", page.take("c")))


def test_the_flags_are_all_of_tvmcs() -> None:
    named = set(re.findall(r"(?m)^\| `(--workspace-pools[a-z-]*)=", PAGE))
    assert named == FLAGS
