"""What newcomers get wrong first, each answered with its place, its cause and the way to go on.

The project is a manifest with two models, `sww` in models/ and `ad` beside it, and a pool.  Mistakes that are seen in
the manifest alone are in tests/errors, those that only a build system or a linker can see in tests/build_systems and
tests/unit/image_check.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.cli import DATA, call

GOOD = """\
[project]
name = "node"

[pools.work]
access = "rw"
size = "8 KiB"

[models.sww]
path = "models/sww.tflite"

[models.ad]
path = "ad.tflite"
"""


@dataclass(frozen=True)
class Mistake:
    """What is changed in the project, what is typed, and what the message must name: place, cause, way to go on."""

    place: str
    cause: str
    way: str
    swap: Mapping[str, str] = field(default_factory=dict)
    """Texts of the manifest, and what stands in their place."""
    arguments: tuple[str, ...] = ("plan",)
    code: int = 1
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Further files, or others."""


def key(old: str, new: str, place: str, cause: str, way: str, code: int = 1) -> Mistake:
    """A mistake in the manifest."""
    return Mistake(place, cause, way, {old: new}, code=code)


def typed(arguments: str, place: str, cause: str, way: str, code: int = 1) -> Mistake:
    """A mistake on the command line."""
    return Mistake(place, cause, way, arguments=tuple(arguments.split()), code=code)


def file(name: str, data: bytes, place: str, cause: str, way: str, code: int = 1) -> Mistake:
    """A file that is not what it should be."""
    return Mistake(place, cause, way, files={name: data}, code=code)


SIZE = 'size = "8 KiB"'
SWW = 'path = "models/sww.tflite"'

MISTAKES = {
    "7 a wrong path": key(
        SWW, 'path = "sww.tflite"', "usmp.toml:9:8", 'cannot read "sww.tflite"', 'did you mean "models/sww.tflite"?'
    ),
    "7 another case": key(
        SWW, 'path = "Models/SWW.tflite"', "usmp.toml:9:8", "no such file", 'did you mean "models/sww.tflite"?'
    ),
    "7 a folder": key(SWW, 'path = "models"', "usmp.toml:9:8", '"models": it is a folder', "name a file in it"),
    "12 a pool that is too small": key(
        "8 KiB", "700 B", "usmp.toml:6:8", "59 bytes too small", 'enlarge "work" by 59 bytes', code=3
    ),
    "13 no such algorithm": key(
        "[models.ad]",
        '[plan]\nalgorithm = "greedy"\n[models.ad]',
        "usmp.toml:12:13",
        'no algorithm called "greedy"',
        'did you mean "greedy_by_size"?',
    ),
    "19 half a model": file(
        "ad.tflite",
        (DATA / "odd_even.tflite").read_bytes()[:2000],
        "ad.tflite: error[T2",
        "the file has 2,000 bytes",
        "convert it again",
    ),
    "20 an empty file": file("ad.tflite", b"", "ad.tflite: error[T201]", "the file is empty", "export the model again"),
    "20 a page of errors": file(
        "ad.tflite", b"<!DOCTYPE html>", "ad.tflite: error[T201]", "it is a page of HTML", "download the file itself"
    ),
    "21 a pointer of Git LFS": file(
        "ad.tflite",
        b"version https://git-lfs.github.com/spec/v1\n",
        "ad.tflite",
        "pointer of Git LFS",
        "`git lfs pull`",
    ),
    "22 another kind of model": Mistake(
        "usmp.toml:12:8", 'no importer reads "ad.h5"', ".tflite", {"ad.tflite": "ad.h5"}, files={"ad.h5": b"x"}
    ),
    "23 backslashes": key(
        SWW, r"path = 'models\sww.tflite'", "usmp.toml:9:8", "no such file", 'write "/" between folders; did you mean'
    ),
    "25 in another folder": typed("plan models/usmp.toml", "models", "no such file in ", "`usmp-build init MODEL...`"),
    "25 a manifest called otherwise": typed("plan usmp.tml", '"usmp.tml"', "no such file", 'did you mean "usmp.toml"?'),
    "26 half a bracket": key("[models.ad]", "[models.ad", "usmp.toml:11:11", 'ends with "]"', "write [pools.sram]"),
    "43 a model was replaced": key(
        SWW,
        f'{SWW}\nsha256 = "{"0" * 64}"',
        "usmp.toml:10:10",
        "models/sww.tflite has another sha256",
        'if it is meant to be new, write sha256 = "',
    ),
    "49 no compiler": typed(
        "selftest --cc nocc", "error[S601]", 'compiler "nocc": no such file or directory\n', "name it with --cc", code=4
    ),
    "50 another file for the manifest": Mistake(
        "sww.bin:1:1",
        "this is a TensorFlow Lite model, not a manifest",
        "give it a name that ends in .tflite",
        arguments=("plan", "sww.bin"),
        files={"sww.bin": (DATA / "digits.tflite").read_bytes()},
    ),
    "52 a slip in a verb": typed("pln", "error[U265]", 'there is no verb "pln"', 'did you mean "plan"?', code=2),
    "52 no verb": typed("usmp.toml", "error[U265]", 'no verb "usmp.toml"', "usmp-build plan usmp.toml", code=2),
    "53 nothing to check": typed("check", "usmp-build check", "are required: plan, --elf", "usage:", code=2),
    "55 a file in place of the folder": Mistake(
        '"out"',
        "cannot write",
        "another output folder",
        arguments=("generate", "--out", "out"),
        code=2,
        files={"out": b"mine"},
    ),
    "58 a key below a table": key(
        '"ad.tflite"',
        '"ad.tflite"\nconcurrent = [["sww", "ad"]]',
        "usmp.toml:13:1",
        'unknown key "concurrent" in [models.ad]',
        "move the line to its top, above all tables",
    ),
    "59 a connection of other types": key(
        '"ad.tflite"',
        '"ad.tflite"\n[[connections]]\nfrom = "sww.scores"\nto = "ad.image"',
        "usmp.toml:15:6",
        '"sww.scores" (int8[1,10]) and "ad.image" (int8[1,8,8,1]) are not of one type',
        "convert the models alike",
    ),
    "60 no such tensor": key(
        SWW, f'{SWW}\nnames = {{ imgae = "x" }}', "usmp.toml:10:1", 'called "imgae"', 'did you mean "image"?'
    ),
    "66 a slip in an option": key(
        "[models.ad]",
        '[plan]\nalgorithm = "hill_climb"\noptions = { rouns = 3 }\n[models.ad]',
        "usmp.toml:13:13",
        'no option "rouns"',
        "its options are: ",
    ),
    "68 no such pool": typed(
        "plan --workspace-pools sww=wrk", "--workspace-pools sww=wrk", 'pool "wrk"', 'did you mean "work"?', code=2
    ),
    "69 a model without a table": typed(
        "plan --model kws", "usmp.toml: ", '--model asks for model "kws"', "give its file: --model kws=FILE"
    ),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project as it should be; commands are typed in its folder."""
    (tmp_path / "models").mkdir()
    shutil.copyfile(DATA / "digits.tflite", tmp_path / "models" / "sww.tflite")
    shutil.copyfile(DATA / "odd_even.tflite", tmp_path / "ad.tflite")
    (tmp_path / "usmp.toml").write_text(GOOD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_the_message_names_place_cause_and_way(project: Path, mistake: Mistake) -> None:
    text = GOOD
    for old, new in mistake.swap.items():
        assert text.count(old) >= 1
        text = text.replace(old, new, 1)
    (project / "usmp.toml").write_text(text, encoding="utf-8")
    if "plan.json" in mistake.arguments:
        (project / "plan.json").write_text(call("plan", "--json").out, encoding="utf-8")
    for name, data in mistake.files.items():
        (project / name).write_bytes(data)
    done = call(*mistake.arguments)
    assert (done.code, done.out) == (mistake.code, "")
    assert mistake.place in done.err.splitlines()[0]
    assert mistake.cause in done.err
    assert mistake.way in done.err.replace("\nhelp: ", "\n")
    assert "Traceback" not in done.err
    assert "Errno" not in done.err


def test_the_project_itself_is_right(project: Path) -> None:
    done = call("plan", "--isa", "portable")
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("text", ['"64K"', '"64 KiB"', '"64kib"', '"65536"', "0x10000", "65_536"])
@pytest.mark.long
def test_5_units_that_are_taken(project: Path, text: str) -> None:
    (project / "usmp.toml").write_text(GOOD.replace('"8 KiB"', text), encoding="utf-8")
    assert "65,536" in call("plan").out


@pytest.mark.parametrize("change", [lambda data: data.replace(b"\n", b"\r\n"), lambda data: b"\xef\xbb\xbf" + data])
def test_17_18_what_editors_do_to_files_is_taken(project: Path, change: Callable[[bytes], bytes]) -> None:
    (project / "usmp.toml").write_bytes(change(GOOD.encode()))
    assert call("plan").code == 0


def test_47_links_and_spaces_are_taken(project: Path) -> None:
    (project / "my models").mkdir()
    (project / "my models" / "s w w.tflite").symlink_to(project / "models" / "sww.tflite")
    (project / "usmp.toml").write_text(GOOD.replace("models/sww", "my models/s w w"), encoding="utf-8")
    assert call("plan").code == 0


@pytest.mark.parametrize(
    ("access", "message"),
    [
        ("rw", 'note: pool "weights" is empty: no tensor needs it, and weights live in pools with access "ro"\n'),
        ("ro", 'note: pool "more" is empty: no weights need it, and tensors live in pools with access "rw"\n'),
    ],
)
def test_62_a_pool_that_nothing_is_in(project: Path, access: str, message: str) -> None:
    further = "".join(f'[pools.{name}]\naccess = "{access}"\n' for name in ("weights", "more"))
    (project / "usmp.toml").write_text(GOOD + further, encoding="utf-8")
    done = call("plan")
    assert (done.code, message in done.out) == (0, True)


def test_without_a_verb_all_are_listed() -> None:
    done = call()
    assert (done.code, done.out) == (2, "")
    for verb in ("init", "plan", "generate", "demo"):
        assert f"\n    {verb} " in done.err


def test_each_stage_has_a_word() -> None:
    lines = call("inspect", "--help").out.partition("\nstages:\n")[2].splitlines()
    assert [line.split()[0] for line in lines][-1] == "problem"
    assert len(lines) == 14
    assert all(len(line.split()) > 3 for line in lines)
