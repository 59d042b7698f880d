"""Names in programs may hold anything; what is printed stays in its lines and columns."""

import json
from pathlib import Path

import pytest

from tests.support.cli import RW, call, manifest, tables
from tests.support.programs_c import Item, alloc, function, invoke, loop, parameter, store

MANIFEST = tables("t", {"sram": RW}, {"net": 'path = "net.program.json"\n'})
OWN, DEMANDED, CALLEE, PARAMETER, EXTERN = "a\n\x1b[31mb\tc", "on\ndemand", "g\n\x1b[1m", "p\n\u2028", "ex\nt"


def functions() -> dict[str, Item]:
    called = [store(OWN, "x\nx", whole=True), invoke(EXTERN, DEMANDED), invoke(CALLEE, OWN, "y\x1b")]
    inner = alloc(DEMANDED, "int8", ["n\nn"], *called, on_demand=True)
    ports = [parameter("x\nx", "int8", 4), parameter("y\x1b", "int8", 4)]
    own = alloc("s\ns", "int8", [4], store("s\ns", PARAMETER), store("q\n", "s\ns"))
    return {
        "ma\nin": function(ports, alloc(OWN, "int8", [4], inner)),
        CALLEE: function([parameter(PARAMETER), parameter("q\n")], loop("parallel", 2, own)),
    }


@pytest.mark.parametrize(
    "words",
    [
        "plan",
        "generate",
        "inspect model",
        "inspect schedule",
        "inspect storage",
        "inspect lifetimes",
        "inspect scopes",
        "inspect problem",
    ],
)
def test_what_is_printed_stays_in_its_line(tmp_path: Path, words: str) -> None:
    text = json.dumps({"main": "ma\nin", "functions": functions()})
    (tmp_path / "net.program.json").write_text(text, encoding="utf-8")
    verb, *stage = words.split()
    done = call(verb, *stage, manifest(tmp_path, MANIFEST))
    message = done.out + done.err
    assert message.replace("\n", "").isprintable()
    assert not [line for line in message.split("\n") if line.startswith(("in", "demand", "\x1b", "s ", "t "))]
