"""Our wheels and source archives, as tests build them: without any network, with the tools of the extra "test"."""

import gzip
import io
import sys
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.processes import Done, far_from_us, run
from tests.support.tools import need, need_packages

EPOCH = "1700000000"
"""Seconds since 1970: the time of every file in an archive."""


@dataclass(frozen=True)
class Builder:
    """A source tree, and the circumstances of a build that must not show in its archives."""

    source: Path
    umask: int = 0o022
    env: dict[str, str] = field(default_factory=dict)

    def sdist(self, folder: Path) -> Path:
        """Build the source archive into an empty folder."""
        return self._built("--sdist", folder)

    def wheel(self, folder: Path) -> Path:
        """Build a wheel into an empty folder."""
        return self._built("--wheel", folder)

    def build(self, kind: str, folder: Path) -> Done:
        """Try to build an archive into a folder."""
        command = [sys.executable, "-m", "build", kind, "--no-isolation", "--outdir", folder, self.source]
        return run(command, self.source, far_from_us() | {"SOURCE_DATE_EPOCH": EPOCH} | self.env, umask=self.umask)

    def _built(self, kind: str, folder: Path) -> Path:
        done = self.build(kind, folder)
        assert done.code == 0, done.out + done.err
        (archive,) = folder.glob("*.*")
        return archive


def need_build_tools() -> None:
    """Skip the test where a tool is missing that builds archives."""
    need_packages("build", "scikit_build_core")
    need("cmake", "c++")


def unpack(sdist: Path, to: Path) -> Path:
    """Unpack a source archive, the last file first: in most file systems that is another order.  Return the tree.

    It is decompressed as a whole: each step back in a compressed file would decompress it from its beginning.
    """
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(sdist.read_bytes()))) as archive:
        for member in reversed(archive.getmembers()):
            archive.extract(member, to)
    return to / sdist.name.removesuffix(".tar.gz")


def litter(tree: Path) -> None:
    """Leave in a source tree what work leaves there: none of it belongs into an archive."""
    for name in (
        ".env",
        ".git/HEAD",
        ".tools/npm/package.json",
        ".venv/pyvenv.cfg",
        "PKG-INFO",
        "build/CMakeCache.txt",
        "docs/.env",
        "examples/digits/build/app",
        "notes.txt",
        "scratch/usmp_build/notes.py",
        "tests/__pycache__/conftest.cpython-311.pyc",
        "usmp_build/__pycache__/errors.cpython-311.pyc",
        "usmp_build.egg-info/PKG-INFO",
    ):
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("rubbish")
