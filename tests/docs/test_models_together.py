"""docs/models-together.md: models at the same time share nothing; an output that is an input is one buffer."""

from pathlib import Path

from tests.support.cli import DATA, manifest, planned
from tests.support.snippets import Page, runs

HEAD = '[project]\nname = "p"\n'
THREE = HEAD + "".join(
    f'[models.{name}]\npath = "{DATA.as_posix()}/{file}.tflite"\n'
    for name, file in (("kws", "digits"), ("vad", "odd_even"), ("log", "digits"))
)
TWO = HEAD + "".join(f'[models.{name}]\npath = "{name}.model.txt"\n' for name in ("detector", "judge"))
MODEL = """
model "{name}"
subgraph 0 "main"
  %0 "image" int8[1,4] scale=0.5 zero=0
  %1 "{output}" int8[1,4] scale=0.5 zero=0
  inputs %0
  outputs %1
  %1 = ADD(%0, %0)
"""


@runs("docs/models-together.md#models-at-the-same-time")
def test_models_at_the_same_time(page: Page, tmp_path: Path) -> None:
    plan = planned(manifest(tmp_path, page.take("toml").text + THREE))
    assert sorted(map(sorted, plan["concurrent"])) == [["kws", "vad"], ["log", "vad"]]


@runs("docs/models-together.md#one-models-output-is-anothers-input")
def test_one_after_the_other(page: Page, tmp_path: Path) -> None:
    for name, output in (("detector", "boxes"), ("judge", "verdict")):
        (tmp_path / f"{name}.model.txt").write_text(MODEL.format(name=name, output=output), encoding="utf-8")
    plan = planned(manifest(tmp_path, TWO + page.take("toml").text))
    (shared,) = [buffer for buffer in plan["buffers"] if buffer["kind"] == "connection"]
    assert [shared["model"], *shared["shared_with"]] == ["detector", "judge"]
