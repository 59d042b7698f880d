"""Files on disk: the same bytes everywhere, all or nothing, untouched when equal."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import processes
from tests.support.cli import (
    DATA,
    DIGITS,
    LAYER_BY_LAYER,
    ODD_EVEN,
    PASSED,
    RO,
    RW,
    TWO_MODELS,
    call,
    call_apart,
    manifest,
    tables,
)
from tests.support.tools import need
from tests.support.tree import ROOT
from usmp_build.errors import UsageError
from usmp_build.output import writer
from usmp_build.output.bundle import Bundle, OutputFile


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.long
def test_same_bytes_in_any_folder_locale_hash_seed_and_order(tmp_path: Path) -> None:
    digests = []
    variations = [("0", "C", TWO_MODELS), ("1", "C.UTF-8", TWO_MODELS), ("4242", "tr_TR.UTF-8", _reordered(TWO_MODELS))]
    for index, (seed, locale, text) in enumerate(variations):
        home = tmp_path / f"a b{index}"
        home.mkdir()
        manifest(home, text)
        cwd = tmp_path if index else home
        path = "usmp.toml" if not index else home / "usmp.toml"
        env = {"PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": f"Etc/GMT{index:+d}"}
        done = call_apart("generate", path, "--out", home / "out", cwd=cwd, env=env)
        assert done.code == 0, done.err
        digests.append(contents(home / "out"))
    assert digests[0] == digests[1] == digests[2]


@pytest.mark.long
def test_same_bytes_on_another_processor(tmp_path: Path) -> None:
    """$USMP_AARCH64 is a Python for aarch64 that has our requirements, such as one that QEMU emulates."""
    need(python := os.environ.get("USMP_AARCH64", "$USMP_AARCH64"))
    packed = f'{LAYER_BY_LAYER}[targets.cpu]\nisa = "dsp"\n[models.floats]\npath = "DATA/quantized_io.tflite"\n'
    path = manifest(tmp_path, packed)
    assert call("generate", path, "--out", tmp_path / "here").code == 0
    command = [python, "-m", "usmp_build", "generate", path, "--out", tmp_path / "there"]
    done = processes.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=1200)
    assert done.code == 0, done.err
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


def _reordered(text: str) -> str:
    """The same manifest with its models the other way round."""
    head, first, second = text.partition("[models.digits]")[0], "[models.digits]", "[models.odd_even]"
    models = text[len(head) :]
    at = models.index(second)
    assert models.startswith(first)
    return head + models[at:] + models[:at]


def test_no_path_of_this_machine_gets_out(tmp_path: Path) -> None:
    assert call("generate", manifest(tmp_path, LAYER_BY_LAYER), "--out", tmp_path / "out").code == 0
    for name, data in contents(tmp_path / "out").items():
        assert str(tmp_path).encode() not in data, name
        assert str(ROOT).encode() not in data, name


def test_generating_again_touches_nothing(tmp_path: Path) -> None:
    path, out = manifest(tmp_path, LAYER_BY_LAYER), tmp_path / "out"
    assert "0 of them changed" not in call("generate", path, "--out", out).out
    before = {p: p.stat().st_mtime_ns for p in out.iterdir()}
    assert "0 of them changed" in call("generate", path, "--out", out).out
    assert {p: p.stat().st_mtime_ns for p in out.iterdir()} == before


def test_diff_tells_and_writes_nothing(tmp_path: Path) -> None:
    path, out = manifest(tmp_path, LAYER_BY_LAYER), tmp_path / "out"
    call("generate", path, "--out", out)
    assert call("generate", path, "--out", out, "--diff").code == 0
    manifest(tmp_path, LAYER_BY_LAYER.replace("512 B", "200 B"))
    before = contents(out)
    done = call("generate", path, "--out", out, "--diff")
    assert done.code == 4
    assert "-#define TWO_TCM_SIZE" in done.out
    assert contents(out) == before


def test_diff_names_what_an_earlier_plan_left(tmp_path: Path) -> None:
    """Of a pool with another name, another owner, and of a model; what users keep there is theirs."""
    out = tmp_path / "out"
    pools = {"sram": RW, "old": RO + PASSED, "flash": RO + PASSED}
    old = tables("two", pools, {"digits": DIGITS, "odd_even": ODD_EVEN})
    assert call("generate", manifest(tmp_path, old), "--out", out).code == 0
    new = tables("two", {"sram": RW, "young": RO + PASSED, "flash": RO}, {"digits": DIGITS})
    path = manifest(tmp_path, new)
    assert call("generate", path, "--out", out).code == 0
    for name in ("mine.c", "mine.bin", "two_notes.bin"):
        (out / name).write_text("/* mine */")
    before = contents(out)
    done = call("generate", path, "--out", out, "--diff")
    left = ["odd_even.c", "odd_even.h", "odd_even_constants.h"]
    left += [f"two_{pool}.{suffix}" for pool in ("flash", "old") for suffix in ("bin", "inc")]
    assert (done.code, done.out.splitlines()) == (4, [f"{name} is left from an earlier plan" for name in left])
    assert contents(out) == before
    for name in left:
        (out / name).unlink()
    assert call("generate", path, "--out", out, "--diff").code == 0


def test_what_fails_before_writing_leaves_the_old_set(tmp_path: Path) -> None:
    path, out = manifest(tmp_path, LAYER_BY_LAYER), tmp_path / "out"
    call("generate", path, "--out", out)
    before = contents(out)
    manifest(
        tmp_path,
        LAYER_BY_LAYER.replace('workspace_pools = ["sram"]', 'workspace_pools = ["tcm"]').replace("512 B", "40 B"),
    )
    assert call("generate", path, "--out", out).code == 3
    assert contents(out) == before


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_the_old_set(tmp_path: Path) -> None:
    path, out = manifest(tmp_path, LAYER_BY_LAYER), tmp_path / "out"
    call("generate", path, "--out", out)
    before = contents(out)
    manifest(tmp_path, LAYER_BY_LAYER.replace("512 B", "200 B"))
    program = (
        "import os, signal, pathlib, usmp_build.cli as cli\n"
        "write = pathlib.Path.write_bytes\n"
        "left = [6]\n"
        "def dying(path, data):\n"
        "    left[0] -= 1\n"
        "    if left[0] == 0:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return write(path, data)\n"
        "pathlib.Path.write_bytes = dying\n"
        f"cli.main(['generate', {str(path)!r}, '--out', {str(out)!r}])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    kept = {name: data for name, data in contents(out).items() if not name.endswith(".usmp-staged")}
    assert kept == before
    assert call("generate", path, "--out", out).code == 0
    assert contents(out).keys() == before.keys()  # what the dead run staged is gone


def test_a_full_disk_leaves_the_old_set_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = manifest(tmp_path, LAYER_BY_LAYER), tmp_path / "out"
    call("generate", path, "--out", out)
    before = contents(out)
    manifest(tmp_path, LAYER_BY_LAYER.replace("512 B", "200 B"))
    write, room = Path.write_bytes, iter(range(3))

    def filling(file: Path, data: bytes) -> int:
        if next(room, None) is None:
            write(file, data[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", filling)
        done = call("generate", path, "--out", out)
    assert (done.code, "error[U202]" in done.err, "no space left on device" in done.err) == (2, True, True)
    assert contents(out) == before
    assert call("generate", path, "--out", out).code == 0


def test_a_folder_of_others_called_like_a_staged_file_is_let_alone(tmp_path: Path) -> None:
    """Nor does it make the folder stale; what a killed run left goes, even where it is a link."""
    path, out = manifest(tmp_path, LAYER_BY_LAYER), tmp_path / "out"
    for name in ("usmp.h.usmp-staged", "other.usmp-staged"):
        (out / name).mkdir(parents=True)
        (out / name / "precious").write_text("mine")
    (out / "plan.json.usmp-staged").symlink_to(out / "usmp.h.usmp-staged" / "precious")
    (out / "digits.c.usmp-staged").write_text("half of a fi")
    depfile = tmp_path / "deps.d"
    (tmp_path / "deps.d.usmp-staged").mkdir()
    done = call("generate", path, "--out", out, "--depfile", depfile)
    assert (done.code, depfile.is_file()) == (0, True), done.err
    staged = sorted(file.name for file in out.glob("*.usmp-staged*"))
    assert staged == ["other.usmp-staged", "usmp.h.usmp-staged"]
    assert [(out / name / "precious").read_text() for name in staged] == ["mine", "mine"]
    assert call("generate", path, "--out", out, "--diff").code == 0


def test_the_depfile_names_everything_that_was_read(tmp_path: Path) -> None:
    home = tmp_path / "a #b $c"
    home.mkdir()
    depfile = tmp_path / "deps.d"
    path = manifest(home, LAYER_BY_LAYER)
    done = call("generate", path, "--out", tmp_path / "out", "--depfile", depfile, "--depfile-target", "x y.stamp")
    assert done.code == 0
    text = depfile.read_text(encoding="utf-8")
    assert text.startswith("x\\ y.stamp: \\\n")
    assert "a\\ \\#b\\ $$c/usmp.toml" in text
    assert "digits.tflite" in text
    assert "odd_even.tflite" in text


@pytest.mark.parametrize("out", ["folder", "", "/", ".."])
def test_a_folder_in_place_of_a_file_is_an_error_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    done = call("init", DATA / "digits.tflite", "--force", "--out", out)
    assert (done.code, "error[U202]" in done.err) == (2, True)
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", "", "C:/x", "a\\b"])
def test_a_bundle_refuses_paths_outside_its_folder(path: str) -> None:
    with pytest.raises(ValueError, match="leaves the output folder"):
        OutputFile(path, "")


def test_a_bundle_refuses_two_files_of_one_name_in_any_case() -> None:
    with pytest.raises(ValueError, match=r"'KWS\.c' and 'kws\.c'"):
        Bundle.collect([OutputFile("kws.c", ""), OutputFile("KWS.c", "")])


def test_a_link_in_the_folder_is_replaced_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    out = tmp_path / "out"
    out.mkdir()
    (out / "usmp.h").symlink_to(outside)
    writer.write(Bundle.collect([OutputFile("usmp.h", "new")]), out)
    assert outside.read_text() == "precious"
    assert (out / "usmp.h").read_text() == "new"
    assert not (out / "usmp.h").is_symlink()


BEFORE = {
    "CMakeLists.txt": "project(mine)\n",
    "usmp.h": "/* mine */\n",
    "plan.json": '{"generator": "another"}\n',
    "two_flash.bin": "mine",
}


@pytest.mark.parametrize("name", BEFORE)
def test_a_file_that_we_did_not_generate_is_not_replaced(tmp_path: Path, name: str) -> None:
    """Nothing is written at all; `--diff` says it, too."""
    path, out = manifest(tmp_path, tables("two", {"sram": RW, "flash": RO + PASSED}, {"digits": DIGITS})), tmp_path
    (out / name).write_text(BEFORE[name])
    before = contents(out)
    message = f'error[U242]: in "{out}", {name} was not generated by usmp_build, and would be overwritten\nhelp: '
    done = call("generate", path, "--out", out)
    assert (done.code, done.err.startswith(message), contents(out)) == (2, True, before)
    done = call("generate", path, "--out", out, "--diff")
    assert (done.code, message in done.err) == (4, True)
    (out / name).unlink()
    assert call("generate", path, "--out", out).code == 0


def test_each_file_in_the_way_is_named(tmp_path: Path) -> None:
    path, out = manifest(tmp_path, LAYER_BY_LAYER), tmp_path / "out"
    assert call("generate", path, "--out", out).code == 0
    for name in ("usmp.mk", "BUILD.bazel"):
        (out / name).write_text("mine\n")
    done = call("generate", path, "--out", out)
    assert (done.code, "BUILD.bazel, usmp.mk were not generated" in done.err) == (2, True)


def test_each_file_of_ours_may_be_replaced(tmp_path: Path) -> None:
    """The bytes of pools, too, and what is empty; all of another plan."""
    pools = {"sram": RW, "flash": RO + PASSED}
    path, out = manifest(tmp_path, tables("two", pools, {"digits": DIGITS})), tmp_path / "out"
    assert call("generate", path, "--out", out).code == 0
    for file in out.iterdir():
        if file.suffix != ".bin":
            assert b"usmp_build" in file.read_bytes()[:200], file.name
        file.write_bytes(file.read_bytes()[:300])
    (out / "usmp.mk").write_text("")
    manifest(tmp_path, tables("two", pools, {"digits": DIGITS, "odd_even": ODD_EVEN}))
    assert call("generate", path, "--out", out).code == 0
    assert call("generate", path, "--out", out, "--diff").code == 0


def test_writing_one_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"U202"):
        writer.write_text(tmp_path, "a folder stands here")
