"""docs/generated-code.md: the C that calls what is generated, the script that places it, the hooks that watch."""

from pathlib import Path

from tests.support.doorbell import HEAD, application, program_output
from tests.support.files import PROJECTS
from tests.support.page_files import generated
from tests.support.processes import output, run
from tests.support.snippets import Page, runs
from tests.support.tools import need

SCORES = "int8_t scores[KWS_SCORES_SIZE];\n"


@runs("docs/generated-code.md#running-a-model")
def test_a_model_runs(page: Page, tmp_path: Path) -> None:
    out = generated(tmp_path, HEAD)
    assert program_output(out, tmp_path, application(page.take("c")))
    ignoring = tmp_path / "ignoring.c"
    ignoring.write_text(f'#include "kws.h"\n{page.take("c").text}int main(void) {{ kws_run(); return 0; }}\n')
    warned = run(["cc", "-Wall", "-Wextra", "-Werror", "-c", f"-I{out}", ignoring, "-o", tmp_path / "ignoring.o"])
    assert warned.code != 0
    assert "unused-result" in warned.err
    out = generated(tmp_path, f'{HEAD}io = "application"\n')
    program_output(out, tmp_path, application(SCORES, page.take("c"), "return status;\n"))
    shown = 'printf("%d %d", (int)KWS_AUDIO_RANK, (int)dims[1]);\n'
    assert program_output(out, tmp_path, application(shown, above=[page.take("c")])) == "4 8"


REGIONS = """
[pools.dtcm]
access = "rw"
region = "DTCM"
[pools.flash]
access = "ro"
region = "FLASH"
"""


@runs("docs/generated-code.md#pools")
def test_pools_are_linked_to_where_they_belong(page: Page, tmp_path: Path) -> None:
    need("cc")
    out = generated(tmp_path, REGIONS + HEAD)
    script, main = tmp_path / "board.ld", tmp_path / "main.c"
    script.write_text(page.take("ld").text, encoding="utf-8")
    bare = (PROJECTS / "bare_metal" / "main.c").read_text("utf-8").replace("digits", "kws")
    table = Page("docs/generated-code.md#memory-protection").take("c").within(f'#include "doorbell.h"\nSNIPPET\n{bare}')
    main.write_text(table.replace("(void)kws_run()", "(void)kws_run(), (void)regions"), encoding="utf-8")
    flags = ["-O0", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-nostdlib", "-static", "-no-pie"]
    output(["cc", *flags, f"-I{out}", f"-L{out}", "-T", script, *out.glob("*.c"), main, "-o", tmp_path / "firmware"])


@runs("docs/generated-code.md#memory-protection")
def test_the_table_of_regions_compiles(page: Page, tmp_path: Path) -> None:
    (tmp_path / "regions.c").write_text(page.take("c").text + "int main(void) { return regions[0].start == NULL; }\n")
    out = generated(tmp_path, REGIONS + HEAD)
    output(["cc", "-Wall", "-Werror", "-c", f"-I{out}", tmp_path / "regions.c", "-o", tmp_path / "regions.o"])


HOOK = """
void usmp_hook(const char *model, int step, int tensor, const void *data, size_t size)
{
    printf("%s %d %d %d\\n", model, step, tensor, (int)size + (data == NULL));
}
void usmp_hook_row(const char *model, int step, int tensor, int row, const void *data, size_t size)
{
    printf("%s %d %d %d %d\\n", model, step, tensor, row, (int)size + (data == NULL));
}
"""


@runs("docs/generated-code.md#watching")
def test_operators_are_watched(page: Page, tmp_path: Path) -> None:
    hooks = [page.take("c") for _ in range(4)]
    out, main = generated(tmp_path, HEAD), application("kws_run();\n", above=[*hooks, HOOK])
    assert program_output(out, tmp_path, main, "-DUSMP_HOOK").startswith("kws 0 ")


@runs("docs/generated-code.md#canaries")
def test_canaries_are_set_and_checked(page: Page, tmp_path: Path) -> None:
    snippet = page.take("c").text
    main = application(snippet, 'printf("%s", overrun ? overrun : "-");\n', above=['#include "doorbell.h"\n'])
    for flags in ((), ("-DUSMP_CANARIES=1",)):
        assert program_output(generated(tmp_path, REGIONS + HEAD), tmp_path, main, *flags) == "-"
