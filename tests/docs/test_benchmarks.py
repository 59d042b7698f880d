"""The pages of figures say by which command they were made; `tests/end_to_end/` runs it, on less."""

from __future__ import annotations

import re

from tests.support.shell import Shell
from tests.support.snippets import Page, runs


@runs("docs/benchmarks.md", "docs/planner-benchmarks.md", "docs/cmake.md#what-it-costs")
def test_the_command_has_the_options_that_it_was_called_with(page: Page, shell: Shell) -> None:
    command = page.take("sh").text
    module = re.match(r"python -m (benchmarks\S*) ", command)
    assert module
    known = shell.output(f"python -m {module[1]} --help")
    assert set(re.findall(r" (--\w+)", command)) <= set(re.findall(r"(--\w+)", known))
