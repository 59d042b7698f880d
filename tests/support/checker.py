"""Plans for the checker, and what lets it check all that tests plan, whatever for."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from checker.main import check
from checker.model import Fuel, Model, NotCovered, Wrong
from usmp_build import pipeline
from usmp_build.files import DictFiles, Files
from usmp_build.layout.plan_json import plan_json
from usmp_build.pipeline import Planned
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.request import Request

DATA = Path(__file__).parents[1] / "data"
_MOST = 10_000_000
"""Units of work, a few seconds: larger nets are left out."""
_LITTLE = 100_000
"""Units of work that each plan is worth, some 30 milliseconds."""
_SHARE = 40
"""Of how many plans that take more than a little work a sample checks one."""


@dataclass(frozen=True)
class PlannedModels:
    """A plan as the checker reads it, the files of the models, and the same plan as our verifier sees it."""

    text: str
    files: tuple[bytes, ...]
    problem: Problem
    plan: Plan

    @property
    def document(self) -> dict[str, Any]:
        """A copy to change."""
        document: dict[str, Any] = json.loads(self.text)
        return document

    @property
    def models(self) -> list[Any]:
        return [Model(data) for data in self.files]

    def verdict(self, document: dict[str, Any]) -> str:
        """Return what is wrong; nothing if the plan is right."""
        try:
            check(document, self.models)
        except Wrong as wrong:
            return str(wrong) or "wrong"
        return ""


@cache
def planned_models(names: tuple[str, ...], more: str = "", first: str = "") -> PlannedModels:
    tables = "".join(f'[models.{name}]\npath = "{name}.tflite"\n' for name in names)
    manifest = f'{first}[project]\nname = "p"\n[pools.sram]\naccess = "rw"\n{tables}{more}'
    contents = {name: (DATA / f"{name}.tflite").read_bytes() for name in sorted(names)}
    files = DictFiles({"usmp.toml": manifest.encode(), **{f"{name}.tflite": data for name, data in contents.items()}})
    planned = pipeline.plan(pipeline.read("usmp.toml", files), files)
    return PlannedModels(plan_json(planned.summary), tuple(contents.values()), planned.analysis.problem, planned.plan)


class CheckedPlans:
    """Checks plans of .tflite files as they are made; with a seed, of those that take longer only one of forty."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self.is_on = True
        """Whether what is planned now should be right: some tests plant faults."""

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """Check what is planned within this block; fail at its end."""
        plan, wrong, seen = pipeline.plan, list[str](), set[bytes]()

        def planned(request: Request, files: Files, *others: Any, **named: Any) -> Planned:
            result = plan(request, files, *others, **named)
            text = plan_json(result.summary)
            digest = hashlib.sha256(f"{self._seed}{text}".encode()).digest()
            is_drawn = not self._seed or int.from_bytes(digest, "big") % _SHARE == 0
            if self.is_on and digest not in seen:
                seen.add(digest)
                contents = [files.read(model.path) for model in request.models]
                if fault := _fault(text, contents, _MOST if is_drawn else _LITTLE):
                    wrong.append(f"{os.environ.get('PYTEST_CURRENT_TEST')}: {fault}\n{text}")
            return result

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pipeline, "plan", planned)
            yield
        assert not wrong, "\n".join(wrong)


def _fault(text: str, contents: list[bytes], most: int) -> str:
    """Return what is wrong with a plan; nothing for what is not covered, or takes more than `most` units of work."""
    if not all(data[4:8] == b"TFL3" for data in contents):
        return ""
    files = {hashlib.sha256(data).hexdigest(): data for data in contents}
    document = json.loads(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Fuel, "MOST", most)
        try:
            check(document, [Model(files[each["sha256"]]) for each in document["models"]])
        except NotCovered:
            return ""
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return ""
