"""TVM's cases: in $USMP_PROBLEMS, else in ../shared/cases beside the project."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("USMP_PROBLEMS") or Path(__file__).resolve().parents[3] / "shared" / "cases") / "usmp"


def usmp_rows(name: str, part: str) -> list[Any]:
    """Return the rows of a list in a case, each a parameter; one that is skipped where there are no cases."""
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        return [pytest.param({}, marks=pytest.mark.skip(f"no cases in {FOLDER}; set USMP_PROBLEMS"))]
    rows = json.loads(path.read_text("utf-8"))[part]
    return [pytest.param(row, id=str(row.get("id", f"{part}_{number}"))) for number, row in enumerate(rows)]
