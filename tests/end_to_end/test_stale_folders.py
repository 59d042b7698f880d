"""`generate --diff`: what is stale in a folder is named, whatever is there instead, and nothing is written."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import DIGITS, ODD_EVEN, PASSED, RO, RW, call, call_apart, manifest, says, tables
from tests.support.tools import few

MANIFEST = tables("p", {"sram": RW, "flash": RO}, {"digits": DIGITS})
BUILD_FILES = (
    "BUILD.bazel", "CMakeLists.txt", "library.json", "library.properties", "meson.build",
    "usmp-targets.cmake", "usmp.bzl", "usmp.mk",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that is up to date, beside its manifest."""
    assert call("generate", manifest(tmp_path, MANIFEST), "--out", tmp_path / "out").code == 0
    return tmp_path / "out"


def diff(folder: Path) -> tuple[int, list[str], str]:
    """Exit code, lines of output, and messages."""
    done = call("generate", folder.parent / "usmp.toml", "--out", folder, "--diff")
    return done.code, done.out.splitlines(), done.err


def test_a_folder_that_is_up_to_date(folder: Path) -> None:
    assert diff(folder) == (0, [f"{folder} is up to date"], f'note: planned for portable C, as "{folder}" is\n')


def test_a_source_that_was_not_generated_is_mentioned(folder: Path) -> None:
    for name in ("zz.c", "startup.S", "notes.txt", "app.cpp"):
        (folder / name).write_text("int zz;\n")
    code, lines, message = diff(folder)
    assert (code, lines) == (0, [f"{folder} is up to date"])
    notes = [
        f"note: {name} was not generated: a build of *.c would compile it" for name in ("app.cpp", "startup.S", "zz.c")
    ]
    assert message.splitlines()[-3:] == notes


def test_every_file_that_is_missing_is_named(folder: Path) -> None:
    names = sorted(path.name for path in folder.iterdir())
    assert set(BUILD_FILES) < set(names)
    for name in names:
        text = (folder / name).read_bytes()
        (folder / name).unlink()
        code, lines, message = diff(folder)
        assert (code, lines) == (4, [f"{name} is missing"])
        assert 'error[U241]: "' in message
        assert 'out" is stale: of its files, 1 missing' in message
        assert "help: run the same command with --prune instead of --diff" in message
        (folder / name).write_bytes(text)
    assert diff(folder)[0] == 0


def test_a_folder_that_is_not_there(folder: Path) -> None:
    names = sorted(path.name for path in folder.iterdir())
    folder.rename(folder.parent / "elsewhere")
    assert diff(folder)[:2] == (4, [f"{name} is missing" for name in names])
    folder.write_text("a file")
    assert diff(folder)[:2] == (4, [f"{name} is missing" for name in names])


@pytest.mark.parametrize("name", BUILD_FILES)
def test_every_file_that_changed_is_shown(folder: Path, name: str) -> None:
    old = (folder / name).read_text().split("\n")
    edited = [*old[:1], "# by hand", *old[1:]]
    (folder / name).write_text("\n".join(edited))
    code, lines, message = diff(folder)
    assert code == 4
    assert lines == [
        f"{name} differs",
        f"--- {name} (on disk)",
        f"+++ {name} (generated)",
        "@@ -1,5 +1,4 @@",
        f" {old[0]}",
        "-# by hand",
        *(f" {line}" for line in old[1:4]),
    ]
    assert "of its files, 1 changed" in message


def test_lines_are_numbered_as_in_the_file(folder: Path) -> None:
    path = folder / "p_pools.c"
    lines = path.read_text().split("\n")
    lines[70] += " edited"
    path.write_text("\n".join(lines))
    assert "@@ -68,7 +68,7 @@" in diff(folder)[1]


def test_another_plan(folder: Path) -> None:
    """A pool that grew, and a model more, are seen in all build files."""
    manifest(folder.parent, tables("p", {"sram": RW, "flash": RO}, {"digits": DIGITS, "odd_even": ODD_EVEN}))
    code, lines, message = diff(folder)
    changed = {line.removesuffix(" differs") for line in lines if line.endswith(" differs")}
    assert code == 4
    assert {"BUILD.bazel", "usmp-targets.cmake", "usmp.bzl", "usmp.mk", "plan.json"} <= changed
    assert [line for line in lines if line.endswith("is missing")] == [
        f"odd_even{end} is missing" for end in (".c", ".h", "_constants.h")
    ]
    assert f"of its files, {len(changed)} changed, 3 missing" in message


def test_what_is_left_is_named(folder: Path) -> None:
    manifest(folder.parent, tables("q", {"sram": RW, "flash": RO}, {"digits": DIGITS}))
    assert call("generate", folder.parent / "usmp.toml", "--out", folder).code == 0
    (folder / "usmp.h.usmp-staged").write_text("half a fi")
    (folder / "notes.txt").write_text("mine")
    code, lines, message = diff(folder)
    left = ["p.h", "p.ld", "p_copy_table.ld", "p_guard.h", "p_kernels.c", "p_kernels.h", "p_pools.c"]
    left.append("p_shared_constants.h")
    assert code == 4
    assert lines == [
        *(f"{name} is left from an earlier plan" for name in left),
        "usmp.h.usmp-staged is left from a run that was stopped",
    ]
    assert "of its files, 9 left over" in message


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_pruning_deletes_what_an_earlier_plan_left_and_nothing_else(folder: Path) -> None:
    owned = tables("p", {"sram": RW, "rom": RO + PASSED}, {"digits": DIGITS, "odd_even": ODD_EVEN})
    generate = ("generate", manifest(folder.parent, owned), "--out", folder)
    assert call(*generate).code == 0
    assert {"p_rom.bin", "p_rom.inc", "odd_even.c"} < names(folder)
    mine = {"notes.txt": "Generated by usmp_build", "board.ld": "/* by hand */", "p_other.bin": "\0"}
    for name, text in mine.items():
        (folder / name).write_text(text)
    (folder.parent / "away.c").write_text("/* Generated by usmp_build */")
    (folder / "link.c").symlink_to("../away.c")
    (folder / "below").mkdir()
    (folder / "below" / "old.c").write_text("/* Generated by usmp_build */")

    manifest(folder.parent, tables("q", {"sram": RW, "flash": RO}, {"digits": DIGITS}))
    done = call(*generate)
    assert {"p.ld", "p_rom.bin", "p_rom.inc", "odd_even.c", "odd_even.h"} < names(folder)
    assert "deleted" not in done.out
    done = call(*generate, "--prune")
    assert "\np.ld is deleted: an earlier plan left it\n" in done.out
    fresh = folder.parent / "fresh"
    assert call("generate", folder.parent / "usmp.toml", "--out", fresh).code == 0
    assert names(folder) == names(fresh) | {*mine, "link.c", "below"}
    assert (folder.parent / "away.c").exists()
    assert (folder / "below" / "old.c").exists()
    (folder / "link.c").unlink()
    assert diff(folder)[0] == 0


def test_pruning_spares_a_new_file_that_differs_from_an_old_one_by_case(folder: Path) -> None:
    """Two names of one file stand for a disk that does not tell them apart."""
    os.link(folder / "p.h", folder / "P.h")
    assert call("generate", folder.parent / "usmp.toml", "--out", folder, "--prune").code == 0
    assert (folder / "P.h").exists()
    (folder / "P.h").unlink()
    (folder / "P.h").write_bytes((folder / "p.h").read_bytes())
    assert call("generate", folder.parent / "usmp.toml", "--out", folder, "--prune").code == 0
    assert not (folder / "P.h").exists()


def test_either_compare_or_prune(folder: Path) -> None:
    assert call("generate", "--diff", "--prune", folder.parent / "usmp.toml").code == 2


def replace(what: Callable[[Path], object]) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.unlink()
        what(path)

    return change


ODD = {
    "folder": (replace(Path.mkdir), ["usmp.h is a folder"]),
    "dangling link": (replace(lambda path: path.symlink_to("nowhere")), ["usmp.h is not a file"]),
    "link to itself": (replace(lambda path: path.symlink_to("usmp.h")), ["usmp.h is not a file"]),
    "link to a folder": (replace(lambda path: path.symlink_to(".")), ["usmp.h is a folder"]),
    "pipe": (replace(os.mkfifo), ["usmp.h is not a file"]),
    "line ends": (
        lambda path: path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n")),
        ["usmp.h differs in line ends only"],
    ),
}


@pytest.mark.parametrize("case", few(ODD, 2))
def test_odd_things_in_place_of_a_file(folder: Path, case: str) -> None:
    change, lines = ODD[case]
    change(folder / "usmp.h")
    before = {path.name for path in folder.iterdir()}
    assert diff(folder)[:2] == (4, lines)
    assert {path.name for path in folder.iterdir()} == before


def test_line_ends_have_a_way_out_of_their_own(folder: Path) -> None:
    ODD["line ends"][0](folder / "usmp.h")
    assert "line ends only, write out/** -text in .gitattributes beside it" in diff(folder)[2]


CONTENTS = {
    "empty": (b"", []),
    "no line end": (b"hello", ["-hello (no line end)"]),
    "not UTF-8": (b"caf\xe9\n", ["-caf\\xe9"]),
    "UTF-16": ("é\n".encode("utf-16"), ["-\\xff\\xfe\\xe9\\x00", "-\\x00 (no line end)"]),
    "escapes of a terminal": (b"\x1b[2J\x07\n", ["-\\x1b[2J\\x07"]),
    "right to left": ("\u202e\n".encode(), ["-\\u202e"]),
    "lone carriage returns and form feeds": (b"a\rb\x0cc\n", ["-a\\rb\\x0cc"]),
    "tabs": (b"\ta\tb\n", ["-\ta\tb"]),
    "one long line": (b"x" * 1_000_000, ["-" + "x" * 300]),
}


@pytest.mark.drawn("case")
@pytest.mark.parametrize("case", few(CONTENTS, 1))
def test_odd_content_is_shown_and_does_no_harm(folder: Path, case: str) -> None:
    data, shown = CONTENTS[case]
    (folder / "usmp.mk").write_bytes(data)
    done = call_apart("generate", folder.parent / "usmp.toml", "--out", folder, "--diff", env={"LC_ALL": "C"})
    lines = done.out.split("\n")
    assert done.code == 4
    assert lines[:3] == ["usmp.mk differs", "--- usmp.mk (on disk)", "+++ usmp.mk (generated)"]
    assert [line for line in lines[3:] if line.startswith("-")] == shown
    assert (folder / "usmp.mk").read_bytes() == data


def test_a_file_that_cannot_be_read_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.read_bytes

    def refusing(path: Path) -> bytes:
        if path.name == "usmp.mk":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refusing)
    assert diff(folder)[:2] == (4, ["usmp.mk cannot be read: permission denied"])


def test_large_differences_are_cut_and_cost_little_time(folder: Path) -> None:
    """Every other line of a large file: where comparing all would take minutes."""
    path = folder / "p_pools.c"
    lines = path.read_text().split("\n")
    path.write_text("\n".join(f"{line}\n{number}" for number, line in enumerate(lines * 200)))
    start = time.monotonic()
    code, shown, _ = diff(folder)
    assert time.monotonic() - start < 20
    assert code == 4
    assert len(shown) == 202
    assert shown[-1] == "... and more lines of this file"


def test_a_folder_in_place_of_a_file_leaves_the_old_set(folder: Path) -> None:
    (folder / "usmp.h").unlink()
    (folder / "usmp.h").mkdir()
    manifest(folder.parent, MANIFEST.replace('"p"', '"q"'))
    before = {path.name for path in folder.iterdir()}
    done = call("generate", folder.parent / "usmp.toml", "--out", folder)
    says(done, 2, f'error[U202]: cannot write "{folder}/usmp.h": a folder is in its place')
    assert {path.name for path in folder.iterdir()} == before
