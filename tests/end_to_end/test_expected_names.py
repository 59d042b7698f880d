"""`generate --expect-...`: names by which a build system declared files; the errors say which line to write."""

from pathlib import Path

from tests.support.cli import DATA, PASSED, RO, RW, Done, call, tables

MANIFEST = tables("reader", {"sram": RW, "weights": RO + PASSED}, {})


def generate(tmp_path: Path, *options: str) -> Done:
    path = tmp_path / "usmp.toml"
    path.write_text(MANIFEST, encoding="utf-8")
    return call("generate", path, f"--model=digits={DATA / 'digits.tflite'}", f"--out={tmp_path / 'out'}", *options)


def test_what_is_expected_is_there(tmp_path: Path) -> None:
    done = generate(tmp_path, "--expect-project=reader", "--expect-pool-bytes=weights", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "out" / "reader_weights.bin").is_file()


def test_another_project(tmp_path: Path) -> None:
    done = generate(tmp_path, "--expect-project=plan", "--expect-pool-bytes=weights")
    assert done.code == 1
    assert 'usmp.toml:2:8: error[U245]: the project is called "reader", but the build expects "plan"' in done.err
    assert 'help: let the build expect it (Bazel: project = "reader"), or write name = "plan" in [project]' in done.err
    assert not (tmp_path / "out").exists()


def test_bytes_that_nobody_expects(tmp_path: Path) -> None:
    done = generate(tmp_path, "--expect-project=reader")
    assert done.code == 1
    assert 'usmp.toml:5:8: error[U246]: the bytes of pool "weights" are files, which the build does not expect' in (
        done.err
    )
    assert 'help: let the build expect those that exist (Bazel: pool_bytes = ["weights"])' in done.err


def test_bytes_that_are_not_there(tmp_path: Path) -> None:
    done = generate(tmp_path, "--expect-pool-bytes=weights", "--expect-pool-bytes=sram", "--expect-pool-bytes=flash")
    assert done.code == 1
    no_file = "which is no constant pool of the application"
    assert f'usmp.toml:3:8: error[U246]: the build expects the bytes of pool "sram", {no_file}' in done.err
    assert f'error[U246]: the build expects the bytes of pool "flash", {no_file}' in done.err
