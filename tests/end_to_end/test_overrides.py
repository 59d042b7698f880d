"""Overrides go before the manifest: pools, models at the same time, arguments from files."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import DATA, TWO_MODELS, call, manifest, planned, says, succeed
from usmp_build.cli.argument_files import LARGEST

ANOTHER = '[pools.rom]\naccess = "ro"\n'
OVERRIDES = (
    *("--workspace-pools", "odd_even=tcm,sram"),
    *("--workspace-pools", "digits=sram"),
    *("--constant-pools", "digits=rom"),
    *("--concurrent", "odd_even=digits"),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return manifest(tmp_path, TWO_MODELS + ANOTHER + "[plan]\nrows = false\n")


def pools_of(planned: dict[str, Any], model: str, constant: bool = False) -> set[str]:
    mine = (buffer for buffer in planned["buffers"] if model in (buffer["model"], *buffer["shared_with"]))
    return {buffer["pool"] for buffer in mine if (buffer["kind"] == "constant") is constant}


def test_pools_of_overrides_go_before_those_of_the_manifest(path: Path) -> None:
    before = planned(path)
    assert (pools_of(before, "odd_even"), pools_of(before, "digits", constant=True)) == ({"sram"}, {"flash"})
    after = planned(path, *OVERRIDES)
    assert pools_of(after, "odd_even") == {"tcm"}
    assert pools_of(after, "digits") == {"sram"}
    assert pools_of(after, "digits", constant=True) == {"rom"}
    assert pools_of(after, "odd_even", constant=True) == {"flash"}


def test_models_at_the_same_time_come_beside_those_of_the_manifest(path: Path) -> None:
    assert planned(path)["concurrent"] == []
    both = planned(path, "--concurrent", "odd_even=digits", "--workspace-pools", "digits=sram")
    assert both["concurrent"] == [["digits", "odd_even"]]
    alone = [model["workspace"] for model in both["alternatives"]["models"]]
    assert next(pool["size"] for pool in both["pools"] if pool["name"] == "sram") >= sum(alone)
    path.write_text('concurrent = [["digits", "odd_even"]]\n' + path.read_text())
    assert planned(path, "--concurrent", "digits=odd_even")["concurrent"] == [["digits", "odd_even"]]


def test_plan_json_and_the_table_tell_overrides(path: Path) -> None:
    digits, odd_even = planned(path, *OVERRIDES)["models"]
    assert digits["overrides"] == {"workspace_pools": ["sram"], "constant_pools": ["rom"]}
    assert odd_even["overrides"] == {"workspace_pools": ["tcm", "sram"], "concurrent": ["digits"]}
    assert [model["overrides"] for model in planned(path)["models"]] == [{}, {}]
    table = call("plan", path, *OVERRIDES).out
    assert "odd_even: workspace_pools = tcm, sram is an override, not in the manifest\n" in table
    assert "override" not in call("plan", path).out


def test_no_output_holds_the_path_of_an_override(path: Path, tmp_path: Path) -> None:
    copied = tmp_path / "elsewhere.tflite"
    copied.write_bytes((Path(__file__).parents[1] / "data" / "digits.tflite").read_bytes())
    assert call("generate", path, "--out", tmp_path / "out", "--model", f"digits={copied}").code == 0
    record = json.loads((tmp_path / "out" / "plan.json").read_text())["models"][0]
    assert record["overrides"] == {"path": True}
    assert not [file for file in (tmp_path / "out").iterdir() if b"elsewhere" in file.read_bytes()]


def test_the_order_of_overrides_does_not_change_a_byte(path: Path, tmp_path: Path) -> None:
    pairs = list(zip(OVERRIDES[::2], OVERRIDES[1::2], strict=True))
    folders = set()
    for number, order in enumerate((pairs, pairs[::-1], pairs[2:] + pairs[:2])):  # any two of them in both orders
        out = tmp_path / f"out{number}"
        assert call("generate", *(word for pair in order for word in pair), path, "--out", out).code == 0
        folders.add(tuple((file.name, file.read_bytes()) for file in sorted(out.iterdir())))
    assert len(folders) == 1


@pytest.mark.parametrize(
    ("words", "message", "cure"),
    [
        (
            ("--workspace-pools", "digits=srma,tcm"),
            '--workspace-pools digits=srma,tcm: error[U233]: model "digits" names pool "srma", which no [pools.*] ',
            'did you mean "sram"? Defined pools: tcm, sram, flash, rom',
        ),
        (
            ("--workspace-pools", "digits=flash"),
            '--workspace-pools digits=flash: error[U233]: model "digits" names pool "flash" to work in, but its '
            'access is "ro"',
            'it may stand in --constant-pools; pools with access "rw": tcm, sram',
        ),
        (("--constant-pools", "digits=tcm"), 'names pool "tcm" for constants', "it may stand in --workspace-pools"),
        (
            ("--constant-pools", "digit=rom"),
            '--constant-pools digit=rom: error[U234]: the plan has no model "digit"',
            'did you mean "digits"? Models of the plan: digits, odd_even',
        ),
        (("--concurrent", "digits=vad"), 'error[U234]: the plan has no model "vad"', "models of the plan: digits"),
        (("--model", "digits", "--concurrent", "digits=odd_even"), 'no model "odd_even"', "models of the plan: digits"),
        (("--concurrent", "digits=digits"), "error[U235]: model", "name other models"),
        (("--workspace-pools", "digits"), '--workspace-pools: error[U231]: "digits" is not NAME=POOL', "write for"),
        (("--workspace-pools", "digits="), "error[U231]", "--workspace-pools kws=one,other"),
        (("--workspace-pools", "digits=sram,"), "error[U231]", "--workspace-pools kws=one,other"),
        (("--constant-pools", "=rom"), "error[U231]", "--constant-pools kws=one,other"),
        (("--concurrent", "digits=odd_even,odd_even"), "OTHER[,OTHER...], each OTHER once", "--concurrent kws=one"),
        (
            ("--constant-pools", "digits=rom", "--constant-pools", "digits=flash"),
            '--constant-pools: error[U232]: it names model "digits" twice',
            "give it once, with all names in one list",
        ),
    ],
)
@pytest.mark.parametrize("verb", ["plan", "generate", "outputs"])
def test_what_is_wrong_with_overrides_is_told_of_them(
    path: Path, verb: str, words: tuple[str, ...], message: str, cure: str
) -> None:
    done = call(verb, path, *words)
    says(done, 2, message)
    assert f"help: {cure}" in done.err or cure in done.err.partition("help: ")[2]
    assert "usmp.toml" not in done.err
    assert not (path.parent / "generated").exists()


def test_every_verb_with_a_manifest_takes_overrides(path: Path) -> None:
    succeed("inspect", "storage", path, *OVERRIDES)
    assert call("explain", "digits", path, *OVERRIDES).out != call("explain", "digits", path).out
    for verb in ("selftest", "outputs"):
        assert "--concurrent NAME=OTHER[,OTHER...]" in call(verb, "--help").out


def test_a_pool_that_only_an_override_uses_is_used(path: Path) -> None:
    path.write_text(path.read_text().replace('workspace_pools = ["tcm", "sram"]', 'workspace_pools = ["sram"]'))
    assert "error[M129]: no model may use pool" in call("plan", path).err
    assert call("plan", path, "--workspace-pools", "digits=tcm,sram").code == 0


REFUSED = {
    "a model that is not there": (("--model", "zz"), "", "error[M117]: --model asks for model"),
    "a name that is none": (("--model", "a-b=b.tflite"), "", "error[M109]"),
    "a model without a path": ((), "[models.pathless]\n", "error[M106]"),
    "a pool that nobody may use": ((), '[pools.spare]\naccess = "rw"\n', "error[M129]: no model may use pool"),
    "a file of two": (("--model", "usmp=u.tflite"), "", "error[M110]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_outputs_refuses_what_plan_refuses(path: Path, case: str) -> None:
    options, more, message = REFUSED[case]
    path.write_text(path.read_text() + more)
    done = call("outputs", path, *options)
    assert (done.code, done.out) == (1, "")
    assert message in done.err
    assert done == call("plan", path, *options)


def test_outputs_accepts_what_models_to_come_may_mend(path: Path) -> None:
    """CMake asks before it knows the models: one may bring a path, or use a pool that the others leave out."""
    path.write_text(path.read_text().replace('workspace_pools = ["tcm", "sram"]', 'workspace_pools = ["sram"]'))
    assert "M129" in call("outputs", path).err
    assert call("outputs", path, "--any-model").code == 0
    path.write_text(path.read_text() + "[models.pathless]\n")
    assert "M106" in call("outputs", path).err
    assert call("outputs", path, "--any-model").code == 0
    path.write_text('[project]\nname = "p"\n')
    assert "M119" in call("outputs", path).err
    assert call("outputs", path, "--any-model").code == 0


@pytest.mark.slow
def test_a_pair_of_an_override_that_does_not_fit_is_told_of_it(path: Path) -> None:
    needed = next(pool["size"] for pool in planned(path)["pools"] if pool["name"] == "sram")
    text = path.read_text().replace('[pools.sram]\naccess = "rw"', f'[pools.sram]\naccess = "rw"\nsize = {needed}')
    path.write_text(text.replace('size = "512 B"', 'size = "16 B"'))
    done = call("plan", path, "--concurrent", "odd_even=digits")
    says(done, 3, 'leave the pair "digits" and "odd_even" out of `--concurrent`')


def argument_files(folder: Path) -> Iterator[tuple[str, ...]]:
    """The same call, with more or less of it in files."""
    (folder / "all").write_text("\n".join(["plan", "--json", "a b.toml", *OVERRIDES]))
    (folder / "rest").write_text("\n".join(["a b.toml", "", *OVERRIDES, ""]))
    yield (f"@{folder / 'all'}",)
    yield ("plan", "--json", f"@{folder / 'rest'}")


def test_arguments_from_files(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.rename(tmp_path / "a b.toml")
    monkeypatch.chdir(tmp_path)
    expected = call("plan", "--json", "a b.toml", *OVERRIDES)
    for arguments in argument_files(tmp_path):
        assert call(*arguments) == expected


def test_a_sign_in_a_file_of_arguments_means_nothing(path: Path, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("explain\n@tensor\n")
    assert 'no buffer is called "@tensor"' in call(f"@{tmp_path / 'words'}", path).err
    assert 'no buffer is called "@tensor"' in call("explain", "--", "@tensor", path).err


@pytest.mark.parametrize(
    ("data", "tensor"),
    [
        (b"\xef\xbb\xbfexplain\na b\n", "a b"),
        (b"explain\r\na b\r\n", "a b"),
        (b"explain\na\rb", r"a\rb"),
    ],
    ids=["mark of UTF-8", "line ends of Windows", "carriage return within"],
)
def test_lines_of_a_file_of_arguments(path: Path, tmp_path: Path, data: bytes, tensor: str) -> None:
    (tmp_path / "words").write_bytes(data)
    assert f'no buffer is called "{tensor}"' in call(f"@{tmp_path / 'words'}", path).err


@pytest.mark.parametrize("any_model", [(), ("--any-model",)])
@pytest.mark.parametrize("name", ["", "../../x", "a b", "p\n"])
def test_files_of_a_model_that_cannot_be_called_so_are_not_listed(
    path: Path, name: str, any_model: tuple[str, ...]
) -> None:
    done = call("outputs", path, *any_model, f"--model={name}={DATA / 'digits.tflite'}")
    assert (done.code, done.out) == (1, "")
    assert "error[M109]: " in done.err


@pytest.mark.parametrize(("data", "reason"), [(None, "no such file"), (b"plan\n\xff", "it is not UTF-8")])
def test_a_file_of_arguments_that_cannot_be_read(tmp_path: Path, data: bytes | None, reason: str) -> None:
    if data:
        (tmp_path / "words").write_bytes(data)
    done = call("plan", f"@{tmp_path / 'words'}")
    says(done, 2, f"error[U236]: cannot read arguments from {tmp_path / 'words'}: {reason}")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
def test_a_file_of_arguments_ends(tmp_path: Path) -> None:
    """A device may not, and a file of this size is another one."""
    assert "/dev/zero: it is a device or a pipe, not a file" in call("plan", "@/dev/zero").err
    with (tmp_path / "words").open("wb") as file:
        file.truncate(LARGEST + 1)
    done = call("plan", f"@{tmp_path / 'words'}")
    assert (done.code, "words: larger than 16,777,216 bytes\n" in done.err) == (2, True)
