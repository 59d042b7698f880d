"""One line for whoever waits at a terminal, and nothing anywhere else."""

import argparse
import io
from pathlib import Path

import pytest

from tests.support.cli import DATA, call, one_model
from usmp_build import pipeline
from usmp_build.cli.progress import Progress, progress_arguments
from usmp_build.files import DiskFiles
from usmp_build.manifest.load import load
from usmp_build.manifest.resolve import resolve


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


BAR = "\r\x1b[Kplanning ...\r\x1b[Kplanning ... 1\r\x1b[K"


@pytest.mark.parametrize(
    ("stream", "options", "message"),
    [
        (Terminal, [], BAR),
        (Terminal, ["-q"], ""),
        (Terminal, ["-v"], "planning\n"),
        (io.StringIO, [], ""),
        (io.StringIO, ["--verbose"], "planning\n"),
    ],
)
def test_phases_are_shown_to_terminals(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], options: list[str], message: str
) -> None:
    errors = stream()
    parser = argparse.ArgumentParser()
    progress_arguments(parser)
    monkeypatch.setattr("sys.stderr", errors)
    monkeypatch.setenv("TERM", "xterm")
    with Progress(parser.parse_args(options)) as progress:
        progress("planning")
        progress.step()
    assert errors.getvalue() == message


@pytest.mark.parametrize(("stream", "options"), [(io.StringIO, []), (io.StringIO, ["-v"])])
def test_logs_have_a_line_for_each_ten_seconds(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], options: list[str]
) -> None:
    monkeypatch.setattr(f"{Progress.__module__}.SECONDS_EACH", 10.0)
    errors, waits, waited = stream(), iter([False, False, True]), list[float]()
    monkeypatch.setattr("sys.stderr", errors)
    parser = argparse.ArgumentParser()
    progress_arguments(parser)
    progress = Progress(parser.parse_args(options))
    progress("planning")

    def wait(seconds: float) -> bool:
        waited.append(seconds)
        return next(waits)

    monkeypatch.setattr(progress._ended, "wait", wait)
    with progress:
        pass
    lines = errors.getvalue().splitlines()
    assert lines[bool(options) :] == ["planning ... 10 s", "planning ... 20 s"]
    assert waited == [10, 10, 10]


@pytest.mark.parametrize("option", ["-q", "--quiet"])
def test_what_is_quiet_writes_no_log(option: str) -> None:
    parser = argparse.ArgumentParser()
    progress_arguments(parser)
    assert Progress(parser.parse_args([option]))._log is None


def test_planning_shows_progress(tmp_path: Path) -> None:
    model = DATA / "digits.tflite"
    message = call("generate", model, "-v", "--isa", "portable", "--out", tmp_path).err.splitlines()
    assert message[-2:] == ["planning", "generating"]
    assert call("generate", model, "-q", "--out", tmp_path).err == ""
    steps: list[int] = []
    request = resolve(load(one_model("digits", path="digits.tflite").encode(), "usmp.toml"))
    pipeline.plan(request, DiskFiles(DATA), lambda: steps.append(1))
    assert len(steps) > 1
