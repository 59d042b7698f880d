"""Messages about wrong text: at least one case for each code of docs/errors/text.md."""

import re
from pathlib import Path

import pytest

from usmp_build.errors import ModelError, Span
from usmp_build.importers.text import import_text
from usmp_build.textual.text import read

ROOT = Path(__file__).parents[3]

GOOD = """model "m"
input "x" = %0
subgraph 0 "main"
%0 "a" int8[4] scale=0.5 zero=0
%1 "b" int8[4] = [1, 2, 3, 4]
%2 "c" int8[4]
inputs %0
outputs %2
%2 = ADD(%0, %1) activation=RELU @0
"""

CASES = [
    # code, line of GOOD to replace, by what, what is marked, and the message
    ("T302", 0, "", "input", "expected `model`, found `input`"),
    ("T302", 0, "model m", "m", "expected the name of the model, found `m`"),
    ("T302", 0, 'model "m" "n"', '"n"', 'expected the end of the line, found `"n"`'),
    ("T302", 1, 'input "x" %0', "%0", "expected `=`, found `%0`"),
    ("T302", 1, 'input "x" = x', "x", "expected a tensor, for example %0, found `x`"),
    ("T302", 2, "graph", "graph", "expected `subgraph`, found `graph`"),
    ("T302", 3, '%0 "a int8[4]', '"', "unterminated string"),
    ("T302", 3, '%0 "a" int8[4] zero=0', "zero", "expected the end of the line"),
    ("T302", 4, '%1 "b" int8[4] = ["x"]', '"x"', "expected a number"),
    ("T302", 4, '%1 "b" int8[4] = [1 2]', "2", "expected `,`, found `2`"),
    ("T302", 4, '%1 "b" int8[4] =', "", "expected a list of numbers, zeros, hex or bytes, but the line ends"),
    ("T302", 4, '%1 "b" int8[4] = bytes 4', "", "expected a digest"),
    ("T302", 5, "| 00", "| 00", "expected `=`, found `| 00`"),
    ("T302", 6, "inputs $0", "$", "unexpected character"),
    ("T302", 8, "%2 = ADD(%0, %1", "", "expected `,`, but the line ends"),
    ("T302", 8, "%2 = (%0)", "(", "expected a kind of operator"),
    ("T302", 8, "%2 = ADD(%0) activation RELU", "RELU", "expected `=`"),
    ("T302", 8, "%2 = ADD(%0) activation=6", "6", "expected one of NONE, RELU"),
    ("T303", 0, r'model "a\b"', r'"a\b"', r"\b is not an escape"),
    ("T303", 0, r'model "\u{110000}"', r'"\u{110000}"', "not in range"),
    ("T303", 4, '%1 "b" int8[4] = hex\n| 0 1 2', "| 0 1 2", "half a byte"),
    ("T304", 3, '%0 "a" int8[99999999999999999999]', "9" * 20, "a dimension must be an integer of at most 64 bits"),
    ("T304", 3, '%0 "a" int8[1.5]', "1.5", "a dimension must be an integer"),
    ("T304", 3, f'%0 "a" int8[{"9" * 5000}]', "9", "a dimension must be an integer"),
    ("T304", 3, '%0 "a" int8[1*65]', "[", "65 dimensions are too many"),
    ("T304", 4, '%1 "b" int8[4] = [1*0]', "0", "the count must be 1 or more"),
    ("T304", 4, '%1 "b" int8[4] = bytes -4 sha256:000000000000', "-4", "cannot be negative"),
    ("T304", 8, "%2 = ADD(%0, %1) @1000000000", "@1000000000", "a number from 0 to 999,999,999"),
    ("T304", 8, "%2 = ADD(%0, %1) @-1", "@-1", "a number from 0 to 999,999,999"),
    ("T305", 2, 'subgraph 1 "main"', "1", "this is number 0, not `1`"),
    ("T305", 4, '%2 "b" int8[4]', "%2", "this is number 1, not `%2`"),
    ("T306", 1, 'input "x" = %3', "%3", "unknown tensor %3"),
    ("T306", 3, '%0 "a" int9[4]', "int9", 'unknown type "int9"'),
    ("T306", 4, '%1 "b" int8[4] = zero', "zero", 'unknown form of data "zero"'),
    ("T306", 6, "inputs %9", "%9", "unknown tensor %9"),
    ("T306", 6, f"inputs %{'9' * 5000}", "%", "unknown tensor %99"),
    ("T306", 8, "%2 = ADD(%0) activatoin=RELU", "activatoin", 'unknown option "activatoin"'),
    ("T306", 8, "%2 = ADD(%0) activation=RELU7", "RELU7", 'unknown value "RELU7"'),
    ("T306", 8, "%2 = RELU(%0) beta=1", "beta", 'unknown option "beta"'),
    ("T306", 8, "%2 = RELU(%0) options=Soft", "Soft", 'unknown class of options "Soft"'),
    ("T307", 7, "inputs %0", "inputs", "`inputs` is given twice"),
    ("T307", 8, "%2 = ADD(%0) activation=RELU activation=RELU", "activation", "`activation` is given twice"),
    ("T307", 8, "%2 = ADD(%0, %1) @1\n%2 = ADD(%2, %1) @1", "@1", "position 1 is that of an operator above"),
    ("T307", 8, "%2 = ADD(%0, %1) @1\n%2 = ADD(%2, %1)", "", "position 1 is that of an operator above"),
    ("T308", 6, "", "subgraph", "subgraph 0 has no line `inputs`"),
    ("T309", 4, '%1 "b" int8[4] = [1, 128]', "[", "int8 cannot hold 128"),
    ("T309", 4, '%1 "b" uint8[4] = [-1]', "[", "uint8 cannot hold -1"),
    ("T309", 4, '%1 "b" bool[4] = [2]', "[", "bool cannot hold 2"),
    ("T309", 4, '%1 "b" int8[4] = [1.5]', "[", "invalid literal"),
    ("T309", 4, '%1 "b" int4[4] = [1]', "[", "numbers do not spell int4"),
    ("T309", 4, '%1 "b" string[4] = zeros', "zeros", "string has no size of its own"),
    ("T310", 4, '%1 "b" int8[1000000, 1000000] = zeros', "zeros", "more than 268,435,456 bytes"),
    ("T310", 4, '%1 "b" int8[4] = bytes 1000000000000 sha256:000000000000', "1000000000000", "more than"),
    ("T310", 4, '%1 "b" int8[4] = [1*1000000000000]', "1000000000000", "more than"),
    ("T302", 8, "allocate %2", "", "expected `{`, but the line ends"),
    ("T302", 8, "allocate %2 {", "", "expected `}`, but the line ends"),
    ("T302", 8, "store %2 %0", "%0", "expected `+=`, found `%0`"),
    ("T302", 8, "}", "}", "expected a statement, found `}`"),
    ("T306", 8, "allocate %2 by chance {", "chance", 'unknown provider "chance"'),
    ("T306", 8, "for ever 3 {", "ever", 'unknown kind of loop "ever"'),
    ("T306", 8, "store %7 = %0", "%7", "unknown tensor %7"),
]


@pytest.mark.parametrize(("code", "index", "line", "marked", "message"), CASES)
def test_faults(code: str, index: int, line: str, marked: str, message: str) -> None:
    lines = GOOD.splitlines()
    lines[index] = line
    with pytest.raises(ModelError) as caught:
        read("\n".join(lines), "m", "m.model.txt")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert message in diagnostic.message
    assert diagnostic.help
    assert isinstance(diagnostic.place, Span)
    assert diagnostic.place.file == "m.model.txt"
    assert 1 <= diagnostic.place.line <= len(lines) + 1
    source = diagnostic.place.source
    assert source[diagnostic.place.column - 1 :].startswith(marked) or len(line) > 400
    assert len(str(diagnostic)) < 2000


def test_the_good_text_is_good() -> None:
    assert import_text(GOOD.encode(), "kws", "m.model.txt").name == "kws"


@pytest.mark.parametrize("text", ["", "\n\n# nothing\n"])
def test_empty_text(text: str) -> None:
    with pytest.raises(ModelError, match="expected `model`, but the line ends"):
        read(text, "m", "m.model.txt")


def test_other_encodings() -> None:
    with pytest.raises(ModelError, match=r"m.model.txt: error\[T301\]: .*byte 7 is 0xe9"):
        import_text('model "é"'.encode("latin-1"), "m", "m.model.txt")
    assert import_text(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode(), "m", "m.model.txt")


def test_faults_of_the_graph_are_placed_in_the_file() -> None:
    with pytest.raises(ModelError, match=r"^m.model.txt: error\[T2"):
        import_text(GOOD.replace("inputs %0", "inputs").encode(), "m", "m.model.txt")


def test_axis_separators_must_be_among_the_axes() -> None:
    text = 'model "m"\nsubgraph 0 ""\n  %0 "x" int8[2,3] separators=[3]\n  inputs %0\n  outputs %0\n'
    with pytest.raises(ModelError, match=r'T228.*tensor 0 "x" has the shape \[2, 3\]: the separator 3 is outside'):
        import_text(text.encode(), "m", "m.model.txt")


def test_codes_are_documented_and_tested() -> None:
    sources = [*(ROOT / "usmp_build/textual").glob("*.py"), ROOT / "usmp_build/importers/text.py"]
    used = {code for path in sources for code in re.findall(r'"(T3\d\d)"', path.read_text("utf-8"))}
    page = (ROOT / "docs/errors/text.md").read_text("utf-8")
    assert re.findall(r"^### (T3\d\d) ", page, re.MULTILINE) == sorted(used)
    assert used == {"T301"} | {code for code, *_ in CASES}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("limits=[1]", "the option limits has 1 numbers, but must have 2"),
        ("limits=[3, 2]", r"the option limits is [3, 2]: the first must not be above the second"),
        ("options=Pool2D frame=[1*5]", "the option frame has 5 numbers, but must have 4"),
        ("options=Parts offsets=[0]", "no model file has operators that make tensors parts of others"),
        ("options=Pool2D frame=[0, -1, 0, 0]", "the option frame is [0, -1, 0, 0], but must be 0 or more"),
    ],
)
def test_options_that_make_no_sense(option: str, message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(f"error[T232]: operator 0 (ADD): {message}")):
        import_text(GOOD.replace("activation=RELU", option).encode(), "m", "m.model.txt")
