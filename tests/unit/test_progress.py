"""One line for whoever waits at a terminal, and nothing anywhere else."""

from __future__ import annotations

import io

import pytest

from usmp_build.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "said"), [(Terminal, "\r\x1b[Kreading ...\r\x1b[K"), (io.StringIO, "")])
def test_phases_are_shown_to_terminals(monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], said: str) -> None:
    errors = stream()
    monkeypatch.setattr("sys.stderr", errors)
    with Progress() as progress:
        progress("reading")
    assert errors.getvalue() == said
