"""The verbs as people use them, with their exit codes."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from shlex import quote

import jsonschema
import pytest
import tomli

from tests.support.cli import DATA, LAYER_BY_LAYER, call, call_apart, manifest, one_model, planned, says, succeed
from tests.support.processes import run
from tests.support.tree import ROOT
from usmp_build import pipeline
from usmp_build.errors import UsageError
from usmp_build.layout.plan_json import plan_json, read_plan


def test_init_writes_a_manifest_that_plans(tmp_path: Path) -> None:
    target = tmp_path / "usmp.toml"
    succeed("init", DATA / "digits.tflite", DATA / "odd_even.tflite", "--out", target, "--project", "reader")
    text = target.read_text(encoding="utf-8")
    document = tomli.loads(text)
    assert document["project"]["name"] == "reader"
    assert sorted(document["models"]) == ["digits", "odd_even"]
    assert "int8[1,8,8,1]" in text
    assert call("plan", target).code == 0


def test_init_loses_nothing(tmp_path: Path) -> None:
    target = tmp_path / "usmp.toml"
    target.write_text("mine")
    done = call("init", DATA / "digits.tflite", "--out", target)
    assert (done.code, target.read_text()) == (2, "mine")
    assert "error[U205]" in done.err
    assert call("init", DATA / "digits.tflite", "--out", target, "--force").code == 0


@pytest.mark.long
def test_init_survives_odd_file_names(tmp_path: Path) -> None:
    for name in ("2 words.v1.tflite", "int.tflite", "reader.tflite"):
        (tmp_path / name).write_bytes((DATA / "digits.tflite").read_bytes())
    target = tmp_path / "usmp.toml"
    models = sorted(tmp_path.glob("*.tflite"))
    assert call("init", *models, "--out", target, "--project", "reader").code == 0
    succeed("generate", target, "--out", tmp_path / "out")


def test_the_plan_as_a_table(tmp_path: Path) -> None:
    out = call("plan", manifest(tmp_path, LAYER_BY_LAYER)).out
    head, *rows = out.splitlines()
    assert head.split() == ["pool", "access", "used", "limit", "bound", "gap", "read", "written", "region"]
    assert rows[0].split()[:2] == ["tcm", "rw"]
    assert rows[0].endswith("DTCM")
    assert "bytes together" in out
    assert "verified plan by auto" in out


def test_plan_json_keeps_its_schema_and_is_what_generate_writes_and_alternatives(tmp_path: Path) -> None:
    path = manifest(tmp_path, LAYER_BY_LAYER)
    text = call("plan", path, "--json").out
    schema = json.loads((ROOT / "schemas" / "plan.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(text), schema)
    call("generate", path, "--out", tmp_path / "out")
    written = json.loads((tmp_path / "out" / "plan.json").read_text(encoding="utf-8"))
    jsonschema.validate(written, schema)
    assert written == json.loads(text) | {"alternatives": None}
    read = read_plan(text.encode(), "plan.json", UsageError, "U204", "")
    assert plan_json(read) == text
    assert read.models[0].overrides.given == {}


def test_generate_does_not_plan_for_the_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def compared(*_: object) -> None:
        raise AssertionError("alternatives are of plan alone")

    monkeypatch.setattr(pipeline, "alternatives", compared)
    path = manifest(tmp_path, LAYER_BY_LAYER)
    assert call("generate", path, "--out", tmp_path / "out").code == 0
    assert call("plan", path).code == 5


@pytest.mark.slow
def test_the_command_line_chooses_models_and_files(tmp_path: Path) -> None:
    path = manifest(tmp_path, LAYER_BY_LAYER)
    only = planned(path, "--model", "odd_even")
    assert [model["name"] for model in only["models"]] == ["odd_even"]
    other = planned(path, "--model", f"digits={DATA / 'branchy.tflite'}")
    both = planned(path)
    digits, branchy = (each["alternatives"]["models"][0]["workspace"] for each in (both, other))
    assert digits != branchy
    assert call("plan", path, "--model", "digits", "--model", "digits").code == 2
    assert call("plan", path, "--model", "nobody").code == 1


@pytest.mark.parametrize(
    "stage", ["model", "schedule", "storage", "survivors", "lifetimes", "traffic", "separations", "costs", "problem"]
)
@pytest.mark.drawn("model")
@pytest.mark.parametrize("model", ["digits", "control", "stateful", "lstm_unrolled"])
def test_every_stage_can_be_seen(tmp_path: Path, stage: str, model: str) -> None:
    path = manifest(tmp_path, one_model(model))
    least = {"survivors": 4, "separations": 1}.get(stage, 6)  # constants and variables outlive runs, nothing else here
    assert call("inspect", stage, path).out.count("\n") >= least
    assert json.loads(call("inspect", stage, path, "--json").out)


def test_traffic_is_the_same_everywhere(tmp_path: Path) -> None:
    """What `inspect traffic` says of operators, plan.json says of buffers, and of models and pools."""
    path = manifest(tmp_path, one_model("digits"))
    operators = [line.split() for line in call("inspect", "traffic", path).out.replace(",", "").splitlines()[1:]]
    by_buffer: dict[str, list[int]] = {}
    for *_, name, read, written in operators:
        before = by_buffer.get(name, [0, 0])
        by_buffer[name] = [before[0] + int(read), before[1] + int(written)]
    plan = planned(path)
    assert {b["name"]: [b["read"], b["written"]] for b in plan["buffers"]} == by_buffer
    for pool in plan["models"][0]["traffic"]:
        mine = [b for b in plan["buffers"] if b["pool"] == pool["pool"]]
        assert [sum(b["read"] for b in mine), sum(b["written"] for b in mine)] == [pool["read"], pool["written"]]
        assert pool["read"] > 0


def test_a_dump_of_a_model_is_a_model(tmp_path: Path) -> None:
    path = manifest(tmp_path, one_model("digits"))
    dump = call("inspect", "model", path, "--imported", "--data").out
    (tmp_path / "copy.model.txt").write_text(dump, encoding="utf-8")
    again = manifest(tmp_path, one_model("digits", path="copy.model.txt"), "again.toml")
    assert call("generate", path, "--out", tmp_path / "a").code == 0
    assert call("generate", again, "--out", tmp_path / "b").code == 0
    assert (tmp_path / "a" / "digits.c").read_text() == (tmp_path / "b" / "digits.c").read_text().replace(
        "again.toml", "usmp.toml"
    )


def test_a_dump_without_weights_still_plans_alike(tmp_path: Path) -> None:
    """All but what only weights tell: which channels are constant."""
    off = "rewrites = { constant_channels = false }"
    path = manifest(tmp_path, one_model("digits", off))
    (tmp_path / "short.model.txt").write_text(call("inspect", "model", path, "--imported").out, encoding="utf-8")
    short = manifest(tmp_path, one_model("digits", off, path="short.model.txt"), "short.toml")
    full, brief = (planned(p) for p in (path, short))
    assert full["buffers"] == brief["buffers"]


def test_diff_of_two_plans(tmp_path: Path) -> None:
    for name, size in (("old", "512 B"), ("new", "300 B")):
        path = manifest(tmp_path, LAYER_BY_LAYER.replace("512 B", size))
        (tmp_path / f"{name}.json").write_text(call("plan", path, "--json").out, encoding="utf-8")
    out = call("diff", tmp_path / "old.json", tmp_path / "new.json").out
    assert out.splitlines()[0].split() == ["pool", "old", "new", "change"]
    assert "~ digits." in out
    assert " -> " in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", '1:1: error[U204]: this is not a plan: "algorithm" is missing'),
        ("[]", "1:1: error[U204]: this is not a plan: the file does not hold an object"),
        ('{"version": 1,', "1:15: error[U204]: this is not a plan: this is not JSON: expecting property name"),
        (("cache_line", "cash_line"), 'error[U204]: this is not a plan: there is no key "cash_line" here'),
        (('"alignment": ', '"alignment": -'), 'error[U204]: this is not a plan: "alignment" must be at least 1'),
        (('"version": 3', '"version": 1'), '2:14: error[U204]: this is not a plan: "version" must be 3'),
    ],
)
def test_diff_refuses_what_is_no_plan(tmp_path: Path, text: str | tuple[str, str], message: str) -> None:
    plan = call("plan", manifest(tmp_path, LAYER_BY_LAYER), "--json").out
    (tmp_path / "new.json").write_text(plan, encoding="utf-8")
    (tmp_path / "bad.json").write_text(text if isinstance(text, str) else plan.replace(*text, 1), encoding="utf-8")
    done = call("diff", tmp_path / "bad.json", tmp_path / "new.json")
    says(done, 2, message, "help: give the plan.json of two runs of generate")


def test_outputs_lists_exactly_what_generate_writes(tmp_path: Path) -> None:
    path = manifest(tmp_path, LAYER_BY_LAYER)
    listed = [line.split("\t")[1] for line in call("outputs", path).out.splitlines()]
    call("generate", path, "--out", tmp_path / "out")
    assert sorted(listed) == sorted(file.name for file in (tmp_path / "out").iterdir())


def test_help_and_version() -> None:
    assert "exit codes: 0 done" in call("--help").out
    assert call("--version").out.startswith("usmp_build 0.")
    assert (Path(call("--cmake-dir").out.strip()) / "usmp_buildConfig.cmake").is_file()


@pytest.mark.parametrize("option", ["--version", "--cmake-dir", "--bazel-dir"])
def test_options_without_a_verb_import_none(option: str) -> None:
    """Build systems ask for folders whenever they configure."""
    program = (
        "import sys\nfrom usmp_build.cli import main\n"
        f"try:\n    main(['{option}'])\nexcept SystemExit:\n    print('usmp_build.pipeline' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1:] == ["False"]


def test_missing_packages_are_reported_in_two_lines(tmp_path: Path) -> None:
    """An interpreter that sees no packages but ours."""
    command = [sys.executable, "-S", "-m", "usmp_build", "plan"]
    done = run(command, tmp_path, os.environ | {"PYTHONPATH": str(ROOT)})
    assert (done.code, done.out) == (2, "")
    error, help_ = done.err.splitlines()
    assert re.fullmatch(r'error\[U244\]: the Python package "\w+" is missing, which usmp_build needs', error)
    assert help_.endswith(f'-m pip install --require-hashes -r "{ROOT}/bazel/requirements.lock"')


def test_an_archive_is_not_run(tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "archive"), "zip", ROOT, "usmp_build")
    done = run([sys.executable, "-m", "usmp_build", "plan"], tmp_path, os.environ | {"PYTHONPATH": archive})
    assert (done.code, done.out) == (2, "")
    assert "usmp_build is in an archive, and cannot run from there\nhelp: " in done.err
    assert done.err.startswith("error[U243]: ")


def test_a_reader_who_has_enough_is_no_error(tmp_path: Path) -> None:
    path = manifest(tmp_path, one_model("branchy"))
    command = f"{quote(sys.executable)} -m usmp_build inspect model {path} --data | head -n 1"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith('model "branchy"')


def test_a_damaged_model_is_named_as_seen_from_where_the_tool_runs(tmp_path: Path) -> None:
    (tmp_path / "home" / "models").mkdir(parents=True)
    (tmp_path / "home" / "models" / "cut.tflite").write_bytes(b"cut")
    manifest(tmp_path / "home", '[project]\nname = "p"\n[models.cut]\npath = "models/cut.tflite"\n')
    done = call_apart("plan", "home/usmp.toml", cwd=tmp_path)
    assert (done.code, done.err.startswith("home/models/cut.tflite: error[T201]: ")) == (1, True)


@pytest.mark.parametrize("given", ["nothing.tflite", "models"])
def test_a_model_of_the_command_line_that_cannot_be_read_is_not_the_manifests_fault(tmp_path: Path, given: str) -> None:
    (tmp_path / "models").mkdir()
    path = manifest(tmp_path, one_model("digits"))
    done = call("plan", path, f"--model=digits={tmp_path / given}")
    assert done.code == 1
    assert done.err.startswith(f'--model digits: error[M101]: cannot read "{tmp_path / given}": ')
    assert "manifest" not in done.err


def test_names_of_the_manifest_reach_the_header(tmp_path: Path) -> None:
    extra = '[models.digits.names]\n"serving_default_image:0" = "picture"\n'
    path = manifest(tmp_path, one_model("digits", extra))
    assert call("generate", path, "--out", tmp_path / "out").code == 0
    header = (tmp_path / "out" / "digits.h").read_text()
    assert "int8_t *picture;" in header
    assert "#define DIGITS_PICTURE_SIZE 64" in header
    done = call("generate", manifest(tmp_path, one_model("digits", extra.replace("image", "imgae"))))
    says(done, 1, "error[P304]", "serving_default_image:0")


OPTIONS = [
    (("generate", "-o", "x"), 'generate takes no option "-o"', "did you mean --out? "),
    (("generate", "--output=x"), 'generate takes no option "--output=x"', "did you mean --out? "),
    (("plan", "--vrebose"), 'plan takes no option "--vrebose"', "did you mean --verbose? "),
    (("plan", "--pool"), 'plan takes no option "--pool"', "did you mean --workspace-pools or --constant-pools? "),
    (("plan", "--qqq"), 'plan takes no option "--qqq"', ""),
    (("diff", "a", "b", "c"), 'diff takes no further argument "c"', ""),
]


def test_options_may_stand_before_the_manifest(tmp_path: Path) -> None:
    path = manifest(tmp_path, one_model("digits"))
    for verb in (["inspect", "model"], ["inspect", "kernels"]):
        assert call(*verb, "--json", path).out == call(*verb, path, "--json").out != ""


@pytest.mark.parametrize(("arguments", "message", "hint"), OPTIONS)
def test_an_option_that_the_verb_does_not_have(arguments: tuple[str, ...], message: str, hint: str) -> None:
    done = call(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error[U287]: {message}\nhelp: {hint}usmp-build {arguments[0]} takes --")
