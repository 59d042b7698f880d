"""Checked-in folders: generated here, moved away, and built where no Python is."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.support.cli import DATA, call
from tests.support.files import PROJECTS
from tests.support.tools import need

_ALWAYS = ("sh", "cc", "gcc", "c++", "g++", "ar", "ranlib", "gcc-ar", "gcc-ranlib", "ld", "as", "mkdir", "rm")
ARM = tuple(f"arm-none-eabi-{tool}" for tool in ("gcc", "ar", "ranlib", "gcc-ar", "gcc-ranlib", "ld", "as"))


def without_python(folder: Path, *tools: str) -> Mapping[str, str]:
    """Return an environment with a few programs, and no Python: skips the test where one of them is missing.

    PATH is a folder of links; a tool may be a path, and is then called like its file.
    """
    need(*_ALWAYS, *tools)
    folder.mkdir()
    for tool in (*_ALWAYS, *tools):
        (folder / Path(tool).name).symlink_to(str(shutil.which(tool)))
    assert not [link.name for link in folder.iterdir() if "python" in link.resolve().name]
    return {"PATH": str(folder), "HOME": str(folder.parent), "LC_ALL": "C"}


def blocked_pythons() -> list[str]:
    """Every Python that a sandbox could find where systems have their programs."""
    places = (Path("/bin"), Path("/usr/bin"), Path("/usr/local/bin"))
    return sorted({str(path.resolve()) for place in places for path in place.glob("python*") if path.is_file()})


def generate(manifest: Path, to: Path, **models: str) -> Path:
    """Generate, with models of ours, somewhere else, and move the folder to its place; return that."""
    first = to.parent / "generated elsewhere"
    named = [f"--model={name}={DATA}/{model}.tflite" for name, model in models.items()]
    done = call("generate", manifest, "--out", first, *named)
    assert done.code == 0, done.err
    return first.rename(to)


def two_models(folder: Path) -> Path:
    """Make a project that looks at digits: `main.c` and `generated`, and none of what that was generated from."""
    folder.mkdir(parents=True)
    shutil.copyfile(PROJECTS / "two_folders" / "main.c", folder / "main.c")
    generate(PROJECTS / "two_folders" / "usmp.toml", folder / "generated", digits="digits", odd_even="odd_even")
    return folder


def two_projects(folder: Path) -> Path:
    """Make the same project with a generated folder for each of its models: `left` and `right`."""
    folder.mkdir(parents=True)
    shutil.copyfile(PROJECTS / "two_folders" / "main.c", folder / "main.c")
    for project, model in (("left", "digits"), ("right", "odd_even")):
        manifest = folder / f"{project}.toml"
        manifest.write_text(f'[project]\nname = "{project}"\n', encoding="utf-8")
        generate(manifest, folder / project, **{model: model})
        manifest.unlink()
    return folder


def bare_metal(folder: Path) -> Path:
    """Make a firmware with a linker script that includes the fragment of `generated`."""
    folder.mkdir(parents=True)
    for name in ("main.c", "link.ld", "arm-none-eabi.cmake"):
        shutil.copyfile(PROJECTS / "bare_metal" / name, folder / name)
    generate(PROJECTS / "bare_metal" / "usmp.toml", folder / "generated", digits="digits")
    return folder


def check(folder: Path, image: Path) -> None:
    """Let `usmp-build check` say that the image is as planned in the folder."""
    done = call("check", folder, "--elf", image)
    assert done.code == 0, done.out + done.err
    assert "every pool is as planned" in done.out
