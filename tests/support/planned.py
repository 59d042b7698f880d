"""Plans and generated files that several tests of a run share: whoever asks first computes them."""

import copyreg
import hashlib
import io
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import pytest

from usmp_build import pipeline
from usmp_build.errors import Span
from usmp_build.files import DiskFiles
from usmp_build.ir.graph import Model
from usmp_build.layout import AlternativesRecord
from usmp_build.layout.layout import Layout
from usmp_build.output import writer
from usmp_build.pipeline import Planned
from usmp_build.request import Request
from usmp_build.search.replanner import Replanner

Answer = TypeVar("Answer")
Shared = Callable[[str, Callable[[Path], Path]], Path]
"""A name, and a function that makes the thing in the folder that it is given, and returns where it is."""


def _read_only(values: dict[object, object]) -> MappingProxyType[object, object]:
    return MappingProxyType(values)


copyreg.pickle(MappingProxyType, lambda proxy: (_read_only, (dict(proxy),)))


@dataclass(frozen=True)
class Generated:
    """A plan, and the folder of its manifest, with the generated files in `generated`."""

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
    """Plans that tests of this process have asked for, the latest last, and what was compared with them."""

    MOST = 50

    def __init__(self) -> None:
        self._plans: dict[bytes, tuple[Planned, list[AlternativesRecord]]] = {}

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Within this block, what has been planned, or compared with other plans, is taken from here.

        Manifests that say the same have one plan, wherever they are.
        """
        plan, compare = pipeline.plan_models, pipeline.compare

        def planned(request: Request, models: tuple[Model, ...], *_: object) -> Planned:
            question = _question(request, models)
            if question in self._plans:
                known, records = self._plans.pop(question)
                known = replace(known, replanner=Replanner.of(request, models))
            else:
                known, records = plan(request, models), []
            self._plans[question] = known, records
            if len(self._plans) > self.MOST:
                del self._plans[next(iter(self._plans))]
            return known

        def compared(asked: Planned) -> AlternativesRecord:
            same = (records for known, records in self._plans.values() if known.fitted is asked.fitted)
            records = next(same, [])
            if not records:
                records.append(compare(asked))
            return records[0]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pipeline, "plan_models", planned)
            patch.setattr(pipeline, "compare", compared)
            yield


class _Pickler(pickle.Pickler):
    """Leaves out where in a manifest something stands."""

    def reducer_override(self, value: object) -> Any:
        return (str, ()) if isinstance(value, Span) else NotImplemented


def _question(request: Request, models: tuple[Model, ...]) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer).dump((request, models))
    return hashlib.sha256(buffer.getvalue()).digest()


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:32]
