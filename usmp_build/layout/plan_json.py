"""plan.json as text: the records of a plan are written, read and published as a schema."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cache

from pydantic import TypeAdapter

from usmp_build.document.faults import Codes
from usmp_build.document.json_lines import json_lines
from usmp_build.document.json_text import parse, validate
from usmp_build.document.source import decode
from usmp_build.errors import UsmpError
from usmp_build.layout.buffers import buffer_records
from usmp_build.layout.plan_record import PlanRecord


def plan_json(plan: PlanRecord) -> str:
    """Return the text of plan.json, one buffer, or tensor in rows, a line: it is read by people, and compared, too."""
    recorded = replace(plan, buffers=buffer_records(plan.buffers))
    document = _adapter().dump_python(recorded, mode="json", warnings="error")
    for model, row in zip(document["models"], plan.models, strict=True):
        model["overrides"] = row.overrides.given
    return json_lines(document)


def plan_hash(plan: PlanRecord) -> int:
    """Return the first 32 bits of the SHA-256 of plan.json: the linker fragment leaves it in the image."""
    return int.from_bytes(hashlib.sha256(plan_json(plan).encode()).digest()[:4], "big")


def read_plan(data: bytes, file: str, error: type[UsmpError], code: str, help_: str) -> PlanRecord:
    """Read a plan; `file` is its name in messages.  Raises `error`, with `code`, when it is none."""
    codes = Codes(error, code, code, code, "usmp-build schema --plan")
    try:
        source = decode(data, file, codes)
        return validate(PlanRecord, parse(source), source)
    except error as refusal:
        first = refusal.diagnostics[0]
        raise error(replace(first, message=f"this is not a plan: {first.message}", help=help_)) from None


def plan_schema() -> str:
    """Return the JSON schema of plan.json."""
    return json.dumps(_adapter().json_schema(), indent=2, sort_keys=True) + "\n"


@cache
def _adapter() -> TypeAdapter[PlanRecord]:
    """Let pydantic look at the records: once, and not before somebody needs it."""
    return TypeAdapter(PlanRecord)
