"""Plans and generated files that several tests of a run share: made once, by whoever asks first."""

import copyreg
import hashlib
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import pytest

from usmp_build import pipeline
from usmp_build.files import DiskFiles
from usmp_build.ir.graph import Model
from usmp_build.layout import AlternativesRecord
from usmp_build.layout.layout import Layout
from usmp_build.output import writer
from usmp_build.pipeline import Planned
from usmp_build.request import Request

Answer = TypeVar("Answer")
Shared = Callable[[str, Callable[[Path], Path]], Path]
"""A name, and a function that makes the thing in the folder that it is given, and returns where it is."""


def _read_only(values: dict[object, object]) -> MappingProxyType[object, object]:
    return MappingProxyType(values)


copyreg.pickle(MappingProxyType, lambda proxy: (_read_only, (dict(proxy),)))


@dataclass(frozen=True)
class Generated:
    """A plan, and the folder of its manifest, with the files made of it in `generated`."""

    planned: Planned
    layout: Layout
    folder: Path


def generated(manifest: str, shared: Shared) -> Generated:
    """Plan and generate a manifest whose paths are absolute."""

    def make(folder: Path) -> Path:
        (folder / "usmp.toml").write_text(manifest, encoding="utf-8")
        files = DiskFiles(folder)
        planned = pipeline.plan(pipeline.read("usmp.toml", files), files)
        layout = pipeline.lay_out(planned)
        writer.write(pipeline.emit(layout), folder / "generated")
        (folder / "planned").write_bytes(pickle.dumps((planned, layout)))
        return folder

    folder = shared(f"plan_{_digest(manifest.encode())}", make)
    planned, layout = pickle.loads((folder / "planned").read_bytes())
    return Generated(planned, layout, folder)


def answered(question: tuple[bytes, ...], ask: Callable[[], Answer], shared: Shared) -> Answer:
    """Return the answer to a question, which is asked once in a run of tests."""

    def make(folder: Path) -> Path:
        (folder / "answer").write_bytes(pickle.dumps(ask()))
        return folder / "answer"

    answer: Answer = pickle.loads(shared(f"answer_{_digest(*question)}", make).read_bytes())
    return answer


class Plans:
    """Plans that have been made, by what was asked for."""

    def __init__(self) -> None:
        self._plans: dict[bytes, Planned] = {}
        self._records: dict[int, AlternativesRecord] = {}

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Within this block, what has been planned, or compared with other plans, is taken from here."""
        plan, compare = pipeline.plan_models, pipeline.compare

        def planned(request: Request, models: tuple[Model, ...], *_: object) -> Planned:
            question = pickle.dumps((request, models))
            if question not in self._plans:
                self._plans[question] = plan(request, models)
            return self._plans[question]

        def compared(plan: Planned) -> AlternativesRecord:
            if not any(plan is each for each in self._plans.values()):
                return compare(plan)
            if id(plan) not in self._records:
                self._records[id(plan)] = compare(plan)
            return self._records[id(plan)]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pipeline, "plan_models", planned)
            patch.setattr(pipeline, "compare", compared)
            yield


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:32]
