"""Models in place of a manifest, and the manifest that `init` writes: how one begins."""

import shutil
from pathlib import Path

import pytest

from tests.support.cli import DATA, call


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two models, in which commands are typed."""
    (tmp_path / "models").mkdir()
    shutil.copyfile(DATA / "digits.tflite", tmp_path / "models" / "sww.tflite")
    shutil.copyfile(DATA / "odd_even.tflite", tmp_path / "ad.tflite")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


MODELS = ("models/sww.tflite", "ad.tflite")


@pytest.mark.slow
def test_models_without_a_manifest_are_planned_as_after_init(project: Path) -> None:
    """To the byte, in `plan` as in `generate`; the files that were read are those of the models."""
    planned = call("plan", *MODELS, "--json")
    assert "usmp-build init models/sww.tflite ad.tflite" in planned.err
    assert call("generate", *MODELS, "--out", "without", "--depfile", "without.d").code == 0
    assert not (project / "usmp.toml").exists()
    assert call("init", *MODELS).code == 0
    assert call("plan", "--json").out == planned.out
    assert call("generate", "--out", "with", "--depfile", "with.d", "--depfile-target", "without/plan.json").code == 0
    assert contents(project / "without") == contents(project / "with")
    there = (project / "with.d").read_text().replace(" \\\n  usmp.toml", "")
    assert (project / "without.d").read_text() == there


@pytest.mark.slow
def test_other_verbs_take_models_too(project: Path) -> None:
    assert "1 run, all equal" in call("selftest", "ad.tflite", "--runs", "1").out
    assert call("explain", "ad.blur_1/AvgPool", "ad.tflite").out.startswith("ad.blur_1/AvgPool: ")
    assert call("inspect", "storage", *MODELS).code == 0
    assert "ad\tad.c\n" in call("outputs", "ad.tflite").out
    quiet = call("generate", "ad.tflite", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ad.tflite", "usmp.toml"), "error[U266]: give one manifest, or models instead of one"),
        (("usmp.toml", "usmp.toml"), "error[U266]: "),
        (("ad.tflite", "--model", "ad"), "error[U267]: "),
    ],
)
def test_models_or_a_manifest(project: Path, arguments: tuple[str, ...], message: str) -> None:
    done = call("plan", *arguments)
    assert (done.code, done.out, done.err.startswith(message)) == (2, "", True)


def test_a_model_without_a_manifest_that_is_not_there(project: Path) -> None:
    done = call("plan", "ad.tflite", "SWW.tflite")
    message = 'error[M101]: cannot read "SWW.tflite": no such file\nhelp: did you mean "models/sww.tflite"?\n'
    assert (done.code, done.out, done.err) == (1, "", message)


def test_a_link_keeps_its_name(project: Path) -> None:
    """Stores of files call what they hold by its digest."""
    (project / "models" / "sww.tflite").rename(project / "0123abcd")
    (project / "models" / "sww.tflite").symlink_to(project / "0123abcd")
    assert call("plan", *MODELS).code == 0
    assert (call("init", *MODELS).code, call("plan").code) == (0, 0)


def test_a_manifest_that_cannot_be_there(project: Path) -> None:
    done = call("plan", "x" * 6000)
    assert (done.code, "no such file" in done.err) == (1, True)


@pytest.mark.slow
def test_init_says_what_it_calls_otherwise(project: Path) -> None:
    for name in ("kws-large.tflite", "string.tflite"):
        shutil.copyfile(project / "ad.tflite", project / name)
    names = ("models/sww.tflite", "kws-large.tflite", "string.tflite", "ad.tflite", "ad.tflite")
    done = call("init", *names, "--project", "sww", "--out", "new.toml")
    *renamed, written, editor = done.out.splitlines()
    assert renamed == [
        'sww.tflite is model "sww_2", which C runs with sww_2_run(): "sww" is the project, which --project names',
        'kws-large.tflite is model "kws_large", which C runs with kws_large_run(): "kws-large" is not a name: '
        "a letter, then letters, digits and underscores",
        'string.tflite is model "model_string", which C runs with model_string_run(): "string" hides the header '
        "<string.h>",
        'ad.tflite is model "ad_2", which C runs with ad_2_run(): "ad" is taken',
    ]
    assert written.endswith('"usmp-build plan new.toml"')
    assert "usmp-build schema > usmp.schema.json" in editor
    assert call("plan", "new.toml").code == 0
    assert (
        'the project is called "my_fw": "my-fw" is not a name'
        in call("init", "--project", "my-fw", "--force", names[0]).out
    )


def test_a_new_manifest_names_its_schema(project: Path) -> None:
    """As editors read it: in the first line, beside the manifest."""
    assert call("init", "ad.tflite").code == 0
    assert (project / "usmp.toml").read_text("utf-8").startswith("#:schema ./usmp.schema.json\n")
