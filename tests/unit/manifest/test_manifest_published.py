"""The schema, the page and the starter manifest: current, and saying what `load` does."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import tomli

from usmp_build.errors import ManifestError
from usmp_build.manifest import load, resolve
from usmp_build.manifest.page import EXAMPLE, manifest_page
from usmp_build.manifest.schema import json_schema
from usmp_build.manifest.starter import StarterModel, fitting_names, starter
from usmp_build.naming import IDENTIFIER

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads(json_schema())
CASES = sorted((ROOT / "tests/errors").glob("*/usmp.toml"))


@pytest.mark.parametrize(
    ("path", "text", "command"),
    [
        ("schemas/usmp.schema.json", json_schema(), "usmp-build schema > schemas/usmp.schema.json"),
        ("docs/manifest.md", manifest_page(), "usmp-build schema --page > docs/manifest.md"),
    ],
    ids=["schema", "page"],
)
def test_generated_file_is_current(path: str, text: str, command: str) -> None:
    assert (ROOT / path).read_text("utf-8") == text, f"{path} is not current; run: {command}"


def test_the_schema_is_draft_07() -> None:
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    words_of_later_drafts = {"$defs", "prefixItems", "unevaluatedProperties", "dependentSchemas"}
    assert not words_of_later_drafts & set(re.findall(r'"([^"]+)":', json_schema()))
    assert "null" not in json_schema()


def test_every_word_is_described() -> None:
    for schema in (SCHEMA, *SCHEMA["definitions"].values()):
        assert schema["description"]
        assert schema["additionalProperties"] is False
        for key, word in schema["properties"].items():
            assert word["description"].endswith((".", ". ")), key
            assert "$ref" not in word or len(word) == 1


def complaints(text: str) -> list[str]:
    return [error.message for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(tomli.loads(text))]


def test_the_schema_takes_the_example() -> None:
    assert not complaints(EXAMPLE)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.parent.name)
def test_the_schema_takes_what_load_takes(case: Path) -> None:
    try:
        load(case.read_bytes(), "usmp.toml")
    except ManifestError:
        return
    assert not complaints(case.read_text("utf-8"))


@pytest.mark.parametrize(
    "name", ["unknown_key", "unknown_table", "project_missing", "access_missing", "wrong_kinds", "wrong_choice"]
)
def test_the_schema_refuses_too(name: str) -> None:
    assert complaints((ROOT / "tests/errors" / name / "usmp.toml").read_text("utf-8"))


@pytest.mark.parametrize("size", [1, 65536, "64 KiB", "0x1000", "2M", " 1_024 b ", "1GiB"])
def test_sizes_are_alike(size: object) -> None:
    text = f'project.name = "a"\npools.a = {{ access = "rw", size = {json.dumps(size)} }}\n'
    load(text.encode(), "usmp.toml")
    assert not complaints(text)


@pytest.mark.parametrize("size", [0, -1, "64 KB", "x", "", "1.5 KiB", "x" * 999])
def test_bad_sizes_are_alike(size: object) -> None:
    text = f'project.name = "a"\npools.a = {{ access = "rw", size = {json.dumps(size)} }}\n'
    with pytest.raises(ManifestError):
        load(text.encode(), "usmp.toml")
    assert complaints(text)


def uncommented(text: str) -> str:
    return re.sub(r"^#(?=[\[a-z\"])", "", text, flags=re.MULTILINE)


MODELS = [
    StarterModel("kws", "models/kws.tflite", ["18,000 bytes"], {"serving_default_x:0": "audio"}),
    StarterModel("vad", 'odd "name"\\.tflite', ["a\nb = 3"], {}),
]


@pytest.mark.parametrize("models", [MODELS, MODELS[:1]])
def test_the_starter_works(models: list[StarterModel]) -> None:
    text = starter(models, "doorbell")
    request = resolve(load(text.encode(), "usmp.toml"))
    assert request.project == "doorbell"
    assert {model.name: model.path for model in request.models}.items() >= {"kws": "models/kws.tflite"}.items()
    assert [pool.name for pool in request.pools] == ["workspace", "constants"]


def test_the_starter_works_with_all_that_it_suggests() -> None:
    text = uncommented(starter(MODELS[:1], "doorbell"))
    request = resolve(load(text.encode(), "usmp.toml"))
    assert [pool.name for pool in request.pools] == ["dtcm", "sram", "flash"]
    assert request.models[0].names == {"serving_default_x:0": "audio"}
    assert not complaints(text)


def test_a_starter_without_models_says_how_they_look() -> None:
    text = starter([], "doorbell")
    with pytest.raises(ManifestError, match="M119"):
        resolve(load(text.encode(), "usmp.toml"))
    assert resolve(load(uncommented(text).encode(), "usmp.toml")).models[0].name == "kws"


def test_fitting_names_fit() -> None:
    texts = [
        "kws",
        "KWS",
        "kws_2",
        "doorbell",
        "doorbell_pools",
        "usmp",
        "usmp_x",
        "int",
        "con",
        "",
        "日本",
        "n" * 99,
        "n" * 98,
    ]
    names = fitting_names(texts, ["doorbell"])
    models = [StarterModel(name, "a.tflite") for name in names]
    assert len(resolve(load(starter(models, "doorbell").encode(), "usmp.toml")).models) == len(texts)
    assert all(IDENTIFIER.fullmatch(name) for name in names)
    assert names[0] == "kws"
