"""Text of models and file names is text wherever it goes: no file says more than with plain names."""

import io
import json
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import RO, RW, call, succeed, tables
from tests.support.flatbuffer import Node, model, operator, quantization, subgraph, tensor, write
from tests.support.host_c import HOSTILE
from tests.support.report_pages import check_policy, tree

TEXTS = [
    *HOSTILE,
    "]]></svg><script>alert(1)</script><!--",
    '" onload="alert(1)',
    '"""); load("//evil") #',
    "$(shell touch evil)\n\ttouch evil",
    "]==] @evil@ $ENV{HOME}",
    "%n%s|`*_[a](b)\r\n# evil",
    "\x00\x07\x1b]0;evil\x07\x1b[2J",
    "\u2028\u0085\u202e\ufeff\U000e0041",
    "\\",
    "'",
    "../../evil",
]
PLAIN = "plain"
STAGES = ("model", "rewrite", "kernels", "schedule", "storage", "lifetimes", "traffic", "separations", "problem")
FOLDER = "out"


def named(text: str) -> Node:
    """A model in which all that has a name is called so, but for a digit before it."""

    def named_tensor(number: int, **fields: Any) -> Node:
        return tensor(f"{number}{text}", [1, 4], Quantization=quantization([0.5], [0]), **fields)

    add = operator("ADD", [0, 1], [2], Node("AddOptions"))
    graph = subgraph([named_tensor(0), named_tensor(1, Buffer=1), named_tensor(2)], [add], [0], [2], name=text)
    ports = [Node("TensorMap", Name=f"{number}{text}", TensorIndex=number) for number in (0, 2)]
    signature = Node("SignatureDef", Inputs=ports[:1], Outputs=ports[1:], SignatureKey=text)
    return model(graph, data=[b"abcd"], SignatureDefs=[signature], Description=text)


def project(folder: Path, text: str) -> Path:
    """Write a model and a manifest, both with the text in their names as far as names may have it."""
    name = re.sub(r"[/\x00-\x1f\x7f]", "_", text)[:80]
    (folder / f"{name}m.tflite").write_bytes(write(named(text)))
    lines = f"path = {json.dumps(f'{name}m.tflite', ensure_ascii=False)}\n"
    manifest = folder / f"{name}.toml"
    pools = {"ram": RW + 'region = "RAM"\n', "flash": RO}
    manifest.write_text(tables("p", pools, {"kws": lines}), encoding="utf-8")
    succeed("generate", manifest, "--out", folder / FOLDER)
    return manifest


def of_c(text: str) -> Iterator[str]:
    """The tokens of C, or of a linker script: names, numbers and strings all alike, without comments."""
    assert "??" not in text
    pattern = r'/\*.*?\*/|//[^\n]*|(?P<string>"(?:\\.|[^"\\\n])*")|(?P<word>\w+)|(?P<sign>\S)'
    for match in re.finditer(pattern, text, re.DOTALL):
        assert match.lastgroup or "\\\n" not in match[0]
        if match.lastgroup:
            yield match[0] if match.lastgroup == "sign" else match.lastgroup


def of_cmake(text: str) -> Iterator[str]:
    pattern = r'#[^\n]*|(?P<string>"(?:\\.|[^"\\])*")|(?P<word>[^\s"#()]+)|(?P<sign>[()])'
    for match in re.finditer(pattern, text, re.DOTALL):
        if match.lastgroup:
            yield "string" if match.lastgroup == "string" else match[0]


def of_make(text: str) -> Iterator[str]:
    """The lines, with values left out, which `tests/properties/test_escapes.py` has make itself read."""
    assert not re.search(r"(?m)^#.*\\$", text)
    for line in text.split("\n"):
        if not line.startswith("#"):
            yield line.partition(" := ")[0]


def of_starlark(text: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            yield "string" if token.type == tokenize.STRING else token.string


def of_properties(text: str) -> Iterator[str]:
    """The lines, whose values are names that a manifest may choose only among those of C."""
    return (line for line in text.split("\n") if not line.startswith("#"))


def of_json(text: str) -> Iterator[str]:
    def flat(value: Any) -> Iterator[str]:
        if isinstance(value, dict | list):
            for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
                yield str(key)
                yield from flat(inner)
        else:
            yield type(value).__name__

    yield from flat(json.loads(text))


LANGUAGES: dict[str, Callable[[str], Iterator[str]]] = {
    ".c": of_c,
    ".h": of_c,
    ".ld": of_c,
    ".cmake": of_cmake,
    ".txt": of_cmake,
    ".mk": of_make,
    ".bzl": of_starlark,
    ".bazel": of_starlark,
    ".build": of_starlark,
    ".properties": of_properties,
    ".json": of_json,
}


def shapes(folder: Path) -> dict[str, list[str]]:
    """What each file of a folder says, apart from names, strings and comments."""
    files = sorted(folder.iterdir())
    return {path.name: list(LANGUAGES[path.suffix](path.read_text(encoding="utf-8"))) for path in files}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain")
    project(folder, PLAIN)
    return folder


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_no_file_says_more_than_with_plain_names(tmp_path: Path, plain: Path, text: str) -> None:
    project(tmp_path, text)
    assert shapes(tmp_path / FOLDER) == shapes(plain / FOLDER)
    assert all(path.read_text(encoding="utf-8").isascii() for path in (tmp_path / FOLDER).iterdir())
    assert not list(tmp_path.rglob("evil"))


def page(manifest: Path) -> list[str]:
    """The elements of the report, and their attributes, but for places where a name may be broken."""
    out = manifest.with_suffix(".html")
    assert call("report", manifest, "--out", out).code == 0
    text = out.read_text(encoding="utf-8")
    check_policy(text)
    return [f"{each.tag} {sorted(each.attrib)}" for each in tree(text).iter() if each.tag != "wbr" or each.attrib]


@pytest.mark.long
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_no_report_or_output_does_more_than_with_plain_names(tmp_path: Path, plain: Path, text: str) -> None:
    manifest = project(tmp_path, text)
    assert page(manifest) == page(plain / f"{PLAIN}.toml")
    buffer = json.loads((tmp_path / FOLDER / "plan.json").read_text("utf-8"))["buffers"][0]["name"]
    verbs = [("plan", manifest), ("explain", buffer, manifest), *(("inspect", stage, manifest) for stage in STAGES)]
    for form in ("text", "markdown"):
        verbs.append(("diff", plain / FOLDER, tmp_path / FOLDER, "--format", form))
    for words in verbs:
        done = succeed(*words)
        assert (done.out + done.err).replace("\n", "").isprintable(), words
    assert len(done.out.splitlines()) == 17  # of the last one, whatever names are
