"""Problems as CSV: columns, tables, intervals, and what is read in two ways."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from usmp_build import effort
from usmp_build.document.source import decode
from usmp_build.errors import ProblemError
from usmp_build.planner.memory.problem import Buffer, Pool, Problem
from usmp_build.planner.memory.timeline import Timeline, most_together
from usmp_build.planner.problems.csv_form import read_csv
from usmp_build.planner.problems.csv_plain import read_plain
from usmp_build.planner.problems.read import read_problem
from usmp_build.planner.problems.statement import Statement, assemble
from usmp_build.units import MAX_BYTES

MEMORY = (Pool("memory"),)


def read(text: str) -> Statement:
    return read_problem(text.encode(), "problem.csv")


def problem(text: str) -> Problem:
    stated = read(text).problem
    assert isinstance(stated, Problem)
    return stated


def slowly(text: str) -> Problem:
    stated = assemble(read_csv(decode(text.encode(), "problem.csv"))).problem
    assert isinstance(stated, Problem)
    return stated


def test_the_columns_of_minimalloc() -> None:
    statement = problem("id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\n")
    assert statement.pools == MEMORY
    assert statement.buffers == (
        Buffer("b1", 4, (0,), intervals=((0, 3),)),
        Buffer("b2", 4, (0,), intervals=((3, 9),)),
        Buffer("b3", 4, (0,), intervals=((0, 9),)),
    )
    assert statement.conflicts == ((2,), (2,), (0, 1))


@pytest.mark.parametrize(
    "text",
    [
        "size,upper,id,lower\n4,3,b1,0\n",
        "Buffer_ID, begin , UPPER,size\n b1, 0 ,3, 4 \n",
        "buffer,start,end,size\nb1,0,2,4\n",  # the last step, not the one after it
        '"id","lower","upper","size"\n"b1",0,3,4\n',
        "\ufeffid,lower,upper,size\r\nb1,0,3,4\r\n",
        "# made by hand\n\nid,lower,upper,size,,\n# the only one\nb1,0,3,4,,\n,,,,\n",
        "id,lower,upper,size,alignment,pools,offset\nb1,0,3,4 B,,,\n",
        "id,lower,upper,size\nb1,000,03,4",
    ],
)
def test_the_same_in_other_words(text: str) -> None:
    assert problem(text) == problem("id,lower,upper,size\nb1,0,3,4\n")


def test_our_own_columns_and_tables() -> None:
    statement = problem(
        "id,lower,upper,size,alignment,pools,offset\n"
        "a,0,2,100,16,tcm:0|sram:5,\n"
        "a,6,8,,,,\n"
        "b,1,3,2 KiB,,sram,256\n"
        "c,0,9,8,,,\n"
        "\n"
        "pool,limit\n"
        "tcm,64 KiB\n"
        "sram,\n"
        "\n"
        "below,above,separation\n"
        "a,b,-4\n"
    )
    assert statement.pools == (Pool("tcm", 65536), Pool("sram"))
    assert statement.buffers == (
        Buffer("a", 100, (0, 1), (0, 5), 16, ((0, 2), (6, 8))),
        Buffer("b", 2048, (1,), (), 1, ((1, 3),), 256),
        Buffer("c", 8, (0, 1), (0, 8), 1, ((0, 9),)),
    )
    assert statement.conflicts == ((1, 2), (0, 2), (0, 1))
    assert statement.separations == {(0, 1): -4}


def test_pools_that_no_table_declares_are_those_that_are_asked_for() -> None:
    assert problem("id,lower,upper,size,pools\na,0,2,8,x y\nb,0,2,8,z\nc,0,2,8,\n").pools == tuple(map(Pool, "xyz"))


def test_gaps_are_intervals() -> None:
    statement = problem("id,lower,upper,size,gaps\na,0,20,8,5-7 9-12\nb,5,7,8,\n")
    assert statement.buffers[0].intervals == ((0, 5), (7, 9), (12, 20))
    assert statement.conflicts == ((), ())


PLAIN = st.lists(
    st.tuples(st.integers(0, 50), st.integers(1, 9), st.integers(0, 999), st.sampled_from([1, 2, 16])), max_size=12
)


@given(rows=PLAIN, columns=st.permutations(["id", "lower", "upper", "size", "alignment"]), ends=st.booleans())
def test_the_fast_way_reads_what_the_slow_one_reads(
    rows: list[tuple[int, int, int, int]], columns: list[str], ends: bool
) -> None:
    lines = [",".join(columns)]
    for number, (lower, length, size, alignment) in enumerate(rows):
        cells = {"id": f"b{number}", "lower": lower, "upper": lower + length, "size": size, "alignment": alignment}
        lines.append(",".join(str(cells[column]) for column in columns))
    text = ("\r\n" if ends else "\n").join(lines) + "\n" * ends
    plain = read_plain(text.encode())
    assert (plain is not None) == bool(rows)
    assert problem(text) == slowly(text)


WIDTHS = ["a,0,3", "a,0,3,4,5", "", " ", "a,0,3,4\n\npool\nx"]
NUMBERS = ["a,3,3,4", "a,-1,3,4", "a,0,3,x", "a,0,3,", "a,0,3,9999999999999999", "a,0,3,999999999999999"]
NAMES = [",0,3,4", "a b,0,3,4", '"a",0,3,4', "#,0,3,4", "ä,0,3,4", "b,0,3,4"]


@pytest.mark.parametrize("row", [*WIDTHS, *NUMBERS, *NAMES])
def test_the_fast_way_leaves_everything_else_to_the_slow_one(row: str) -> None:
    assert read_plain(f"id,lower,upper,size\nb,0,3,4\n{row}\nc,0,3,4\n".encode()) is None


def test_too_many_pairs_become_a_timeline(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "id,lower,upper,size,alignment\n" + "".join(f"b{i},{i % 3},{i % 3 + 5},{8 + i},4\n" for i in range(50))
    monkeypatch.setattr(effort, "LISTED_PAIRS", 1000)
    monkeypatch.setattr(effort, "MOST_PAIRS", 1200)
    fast, slow = read(text), assemble(read_csv(decode(text.encode(), "problem.csv")))
    for statement in (fast, slow):
        assert isinstance(statement.problem, Timeline)
        assert statement.pools == MEMORY
        assert statement.names == tuple(f"b{i}" for i in range(50))
        assert statement.problem.size.tolist() == list(range(8, 58))
        assert statement.problem.lower.dtype == statement.problem.alignment.dtype == np.int64
    with pytest.raises(ProblemError, match="Q111"):
        read(text.replace(",4\n", ",4,0\n", 1).replace("alignment", "alignment,offset").replace(",4\n", ",4,\n"))


@pytest.mark.parametrize("alignments", ["4", "12"])
def test_what_is_no_timeline_goes_pair_by_pair(monkeypatch: pytest.MonkeyPatch, alignments: str) -> None:
    """Timelines have alignments that are powers of two: others are planned too, as long as there are not too many."""
    text = f"id,lower,upper,size,alignment\na,0,3,8,{alignments}\nb,0,3,8,4\nc,0,3,8,4\n"
    monkeypatch.setattr(effort, "LISTED_PAIRS", 2)
    for most in (3, 2):
        monkeypatch.setattr(effort, "MOST_PAIRS", most)
        for state in (lambda: read(text), lambda: assemble(read_csv(decode(text.encode(), "problem.csv")))):
            if alignments == "12" and most == 2:
                with pytest.raises(ProblemError, match=r"(?s)Q111.* 3 pairs .*alignments that are powers of two"):
                    state()
            else:
                assert isinstance(state().problem, Timeline) == (alignments == "4")


@pytest.mark.parametrize("last", ["", ",pools"])
def test_many_buffers_with_an_odd_alignment(last: str) -> None:
    """As many as make a timeline of others, read in either way."""
    rows = "".join(f"b{i},0,1,8,12{last and ','}\n" for i in range(700))
    assert isinstance(read(f"id,lower,upper,size,alignment{last}\n{rows}").problem, Problem)


@pytest.mark.parametrize("last", ["", ",pools"])
def test_too_many_bytes_for_a_timeline_are_refused(last: str) -> None:
    """In either way of reading: what is allowed is what `Timeline` allows."""
    count, size, empty = 800, MAX_BYTES, last and ","
    rows = "".join(f"b{i},0,1,{size}{empty}\n" for i in range(count))
    with pytest.raises(ProblemError, match=r"Q111.* the 800 buffers have .* bytes together"):
        read(f"id,lower,upper,size{last}\n{rows}")
    room = most_together(count) - count  # each is aligned to 1
    rows = "".join(f"b{i},0,1,{room // count}{empty}\n" for i in range(count))
    assert isinstance(read(f"id,lower,upper,size{last}\n{rows}").problem, Timeline)


def test_limits_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("usmp_build.document.source.MOST_LINES", 3)
    with pytest.raises(ProblemError, match="5 lines"):
        read("id,lower,upper,size\na,0,3,9\n\n\n\n")
    monkeypatch.setattr("usmp_build.document.source.MOST_COMMAS_OF_JSON", 3)
    with pytest.raises(ProblemError, match="CSV may be larger"):
        read('{"buffers": [1, 2, 3, 4, 5]}')


def test_faults_are_told_up_to_a_number() -> None:
    with pytest.raises(ProblemError) as caught:
        read("id,lower,upper,size\n" + "a,0,0,x\n" * 1000)
    assert len(caught.value.diagnostics) == 100
