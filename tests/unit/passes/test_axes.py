"""Rows of tensors in memory of pages: who decides on them, and what happens where two disagree."""

from dataclasses import replace

import pytest

from tests.support.road import alive, analyze_as, firmware, model
from usmp_build.errors import ManifestError, ModelError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, Pieces
from usmp_build.ir.axes import RowTable
from usmp_build.ir.graph import OperatorRef, TensorRef
from usmp_build.kernels.reference import library
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.plan import peaks
from usmp_build.request import PlaceRequest, Request

PAGE = 16
NET = """
    %0 "x" int8[1,4,4,2] scale=0.5 zero=0
    %1 "weights" int8[3,1,1,2] scales=[0.5*3] zeros=[0*3] = [1, 2, 3, 4, 5, 6]
    %2 "a" int8[1,4,4,3] scale=8.0 zero=0
    %3 "b" int8[1,2,2,3] scale=8.0 zero=0
    %4 "flat" int8[1,12] scale=8.0 zero=0
    %5 "dense" int8[2,12] scales=[0.5, 0.25] zeros=[0, 0] = zeros
    %6 "y" int8[1,2] scale=1.0 zero=0
    %7 "shape" int32[2] = [1, 12]
    inputs %0
    outputs %6
    %2 = CONV_2D(%0, %1, _) padding=VALID @0
    %3 = MAX_POOL_2D(%2) padding=VALID stride_h=2 stride_w=2 filter_h=2 filter_w=2 @1
    %4 = RESHAPE(%3, %7) @2
    %6 = FULLY_CONNECTED(%4, %5, _) @3
"""
"""Rows of a: 12 elements, by CONV_2D and MAX_POOL_2D.  Rows of b: 6 by MAX_POOL_2D, 12 by FULLY_CONNECTED."""


def request(*places: PlaceRequest, layout_copies: bool = False, window: str = "cpu npu") -> Request:
    """Plain memory r, memory of pages w, which `window` reach."""
    asked = firmware({"ram": "cpu npu", "window": window, "flash": "cpu npu"}, places=places)
    pools = (asked.pools[0], replace(asked.pools[1], page=PAGE, dims=2), asked.pools[2])
    return replace(asked, pools=pools, layout_copies=layout_copies)


def pinned(name: str, separators: tuple[int, ...] | None = None) -> PlaceRequest:
    return PlaceRequest(tensors=name, pools=(1,), axis_separators=separators)


def analysis_of(*places: PlaceRequest, layout_copies: bool = False) -> Analysis:
    return analyze_as(request(*places, layout_copies=layout_copies), model(NET), library=library)


def test_kernels_decide_on_rows() -> None:
    analysis = analysis_of(pinned("a"), pinned("b"))
    assert analysis.axes == {
        TensorRef(0, 0, 2): RowTable(4, 12, PAGE),
        TensorRef(0, 0, 3): RowTable(1, 12, PAGE),
    }


def test_a_row_is_a_buffer_and_all_live_together() -> None:
    analysis = analysis_of(pinned("a"))
    rows = [(b.name, b.size, b.alignment) for b in analysis.storage.buffers if b.name.startswith("m.a[")]
    assert rows == [(f"m.a[{row}]", PAGE, PAGE) for row in range(4)]
    first = analysis.storage.tensors[TensorRef(0, 0, 2)]
    assert list(analysis.storage.span(first)) == list(range(first, first + 4))
    assert {name: lives for name, lives in alive(analysis).items() if name.startswith("m.a[")} == {
        f"m.a[{row}]": [(1, 3)] for row in range(4)
    }


def test_separators_decide_where_kernels_agree() -> None:
    analysis = analysis_of(pinned("a", (1,)))
    assert analysis.axes[TensorRef(0, 0, 2)] == RowTable(1, 48, PAGE)


def test_what_is_written_must_divide_into_pieces() -> None:
    with pytest.raises(
        ManifestError, match=r'P332.*"a" has rows of 3 elements by its axis separators.*0 \(CONV_2D\) writes.*12'
    ):
        analysis_of(pinned("a", (3,)))


def test_a_reader_with_other_rows_is_refused() -> None:
    with pytest.raises(
        ManifestError, match=r"P332.*rows of 6.*3 \(FULLY_CONNECTED\) reads pieces of 12(?s:.*)layout_copies"
    ):
        analysis_of(pinned("b", (2,)))


def test_a_reader_with_other_rows_gets_a_copy_where_that_is_allowed() -> None:
    analysis = analysis_of(pinned("b", (2,)), layout_copies=True)
    assert [op.kind for op in analysis.models[0].main.operators] == [
        "CONV_2D", "MAX_POOL_2D", "VIEW", "COPY", "FULLY_CONNECTED",
    ]  # fmt: skip
    assert analysis.axes[TensorRef(0, 0, 3)] == RowTable(2, 6, PAGE)
    assert analysis.axes[TensorRef(0, 0, 8)] == RowTable(1, 12, PAGE)
    copy = analysis.kernels[OperatorRef(0, 0, 3)]
    assert isinstance(copy, Kernel)
    assert [call.form for call in copy.calls] == [Pieces(2, (6, 6))]
    assert analysis.scopes.reasons[TensorRef(0, 0, 8)] == "copy of b in rows of 12 elements"


def test_a_copy_that_the_first_target_cannot_make_is_refused() -> None:
    """Both operators run on npu, whose memory cpu does not see."""
    on_npu = PlaceRequest(operators="*", target=1)
    asked = request(on_npu, pinned("b", (2,)), layout_copies=True, window="npu")
    with pytest.raises(
        ManifestError, match=r'P315.*"b" needs a copy in rows of 12.*"cpu".*does not reach pool "window"'
    ):
        analyze_as(asked, model(NET), library=library)


def test_a_view_speaks_for_its_source() -> None:
    analysis = analysis_of(pinned("b"), PlaceRequest(tensors="flat", axis_separators=(1,)))
    assert analysis.axes[TensorRef(0, 0, 3)] == RowTable(1, 12, PAGE)
    with pytest.raises(ManifestError, match=r"P331.*have axis separators for different rows"):
        analysis_of(pinned("b", (2,)), PlaceRequest(tensors="flat", axis_separators=(1,)))


@pytest.mark.parametrize(("separators", "reason"), [((2, 1), "descend"), ((5,), "outside"), ((1, 2), "make 3 axes")])
def test_separators_that_do_not_go_with_the_shape(separators: tuple[int, ...], reason: str) -> None:
    with pytest.raises(ManifestError, match=rf"P331.*\[1, 4, 4, 3\].*{reason}"):
        analysis_of(pinned("a", separators))


def test_plain_memory_has_no_rows() -> None:
    with pytest.raises(ManifestError, match=r'P330.*tensor "a" has axis separators, but lives in plain memory: ram'):
        analysis_of(PlaceRequest(tensors="a", axis_separators=(2,)))


def test_a_bias_that_is_called_like_what_is_computed_has_no_axes_to_separate() -> None:
    """Only where a rule means nothing else it says so."""
    text = NET.replace('"weights"', '"a/weights"').replace('"a" int8', '"a/Relu" int8')
    asked = request(PlaceRequest(tensors="a/Relu", pools=(1,)), PlaceRequest(tensors="a/*", axis_separators=(1,)))
    assert analyze_as(asked, model(text), library=library).axes[TensorRef(0, 0, 2)].shape == (1, 48)
    with pytest.raises(ManifestError, match=r'P311.*no tensor called "a/weights"'):
        analyze_as(request(PlaceRequest(tensors="a/weights", axis_separators=(1,))), model(text), library=library)


def test_separators_of_the_model_hold_and_are_not_ignored() -> None:
    text = NET.replace('"a" int8[1,4,4,3] scale=8.0 zero=0', '"a" int8[1,4,4,3] scale=8.0 zero=0 separators=[1]')
    assert text != NET
    analysis = analyze_as(request(pinned("a")), model(text), library=library)
    assert analysis.axes[TensorRef(0, 0, 2)] == RowTable(1, 48, PAGE)
    with pytest.raises(
        ManifestError, match=r'm.tflite: error\[P330\]: tensor "a" has axis separators.*plain memory: ram'
    ):
        analyze_as(request(), model(text), library=library)


def test_a_tensor_lives_in_one_kind_of_memory() -> None:
    """With both in its list, the first one says which."""
    analysis = analyze_as(request(), model(NET), library=library)
    assert not analysis.axes
    assert {b.pools for b in analysis.storage.buffers if b.kind.value == "intermediate"} == {(0,)}


WIDE = """
    %0 "x" int8[2,4,4,2] scale=0.5 zero=0
    %1 "weights" int8[3,1,1,2] scales=[0.5*3] zeros=[0*3] = [1, 2, 3, 4, 5, 6]
    %2 "a" int8[2,4,4,3] scale=8.0 zero=0
    %3 "b" int8[2,2,2,3] scale=8.0 zero=0
    %4 "c" int8[2,2,2,3] scale=8.0 zero=0
    %5 "w" int8[3,1,1,3] scales=[0.5*3] zeros=[0*3] = zeros
    inputs %0
    outputs %4
    %2 = CONV_2D(%0, %1, _) padding=VALID @0
    %3 = MAX_POOL_2D(%2) padding=VALID stride_h=2 stride_w=2 filter_h=2 filter_w=2 @1
    %4 = CONV_2D(%3, %5, _) padding=VALID @2
"""


def wide(*places: PlaceRequest, dims: int = 2) -> Analysis:
    asked = request(*places)
    pools = (asked.pools[0], replace(asked.pools[1], dims=dims), asked.pools[2])
    return analyze_as(replace(asked, pools=pools), model(WIDE), library=library)


def named_axes(analysis: Analysis) -> dict[str, tuple[tuple[int, ...], str]]:
    tensors = analysis.models[0].main.tensors
    return {tensors[ref.tensor].name: (table.shape, table.why) for ref, table in analysis.axes.items()}


def test_separators_of_an_output_cut_what_is_computed() -> None:
    """A rule for all convolutions works for a net that ends in one: its output is copied from the rows."""
    analysis = wide(PlaceRequest(operators="CONV_2D", pools=(1,), axis_separators=(2,)))
    assert named_axes(analysis) == {
        "a": ((8, 12), "its axis separators"),
        "c.in_window": ((4, 6), "its axis separators"),
    }
    assert analysis.models[0].main.operators[-1].kind == "COPY"


def test_separators_of_an_input_cut_its_copy() -> None:
    read = PlaceRequest(operators="CONV_2D", operands=("input 0",), pools=(1,))
    analysis = wide(read, PlaceRequest(tensors="x", axis_separators=(1,)))
    assert named_axes(analysis)["x.in_window"] == (
        (2, 32),
        "its axis separators; they end at CONV_2D 0, which makes axes of its own",
    )


def test_separators_go_on_through_operators_that_keep_the_axes() -> None:
    analysis = wide(*(pinned(name) for name in "bc"), pinned("a", (1,)))
    ends = "; they end at CONV_2D 2, which makes axes of its own"
    assert named_axes(analysis) == {
        "a": ((2, 48), "its axis separators"),
        "b": ((2, 12), f"the axis separators of a{ends}"),
        "c.in_window": ((4, 6), "operator 2 (CONV_2D), which writes it"),
    }


def test_separators_go_on_through_plain_memory() -> None:
    """And through copies: what is plain has no rows, but the same axes."""
    pool = PlaceRequest(operators="MAX_POOL_2D", operands=("input 0",), pools=(1,))
    analysis = wide(
        pool, PlaceRequest(tensors="a", pools=(0,)), pinned("b"), PlaceRequest(tensors="a", axis_separators=(1,))
    )
    assert {name: shape for name, (shape, _) in named_axes(analysis).items()} == {"a.in_window": (2, 48), "b": (2, 12)}


def test_separators_end_where_somebody_names_others() -> None:
    axes = named_axes(wide(pinned("a", (1,)), pinned("b", (2,))))
    assert axes["a"] == ((2, 48), "its axis separators")
    assert axes["b"] == ((4, 6), "its axis separators; they end at CONV_2D 2, which makes axes of its own")


def test_separators_end_where_kernels_need_other_rows() -> None:
    """MAX_POOL_2D goes on with rows of 6 elements, FULLY_CONNECTED takes 12 at once."""
    assert named_axes(analysis_of(pinned("a", (2,)), pinned("b"))) == {
        "a": (
            (4, 12),
            "its axis separators; they end at MAX_POOL_2D 1, for rows of 6 elements do not suit the kernels that touch "
            "what it makes",
        ),
        "b": ((1, 12), "the operators that read it"),
    }


def test_memory_of_three_axes() -> None:
    """Two axes count the rows, one after the other; a pool of two axes has none for them."""
    analysis = wide(pinned("a", (1, 2)), pinned("b"), dims=3)
    assert analysis.axes[TensorRef(0, 0, 2)] == RowTable(8, 12, PAGE, (2, 4))
    assert analysis.axes[TensorRef(0, 0, 3)] == RowTable(4, 6, PAGE, (2, 2))
    assert [b.name for b in analysis.storage.buffers if b.name.startswith("m.a[")] == [f"m.a[{n}]" for n in range(8)]
    with pytest.raises(ManifestError, match=r"P331.*make 3 axes, and its memory has 2"):
        wide(pinned("a", (1, 2)))
    with pytest.raises(ManifestError, match=r"P331.*make 4 axes, and its memory has 3\nhelp: name at most 2 axes"):
        wide(pinned("a", (1, 2, 3)), dims=3)


def test_who_does_not_take_rows_gets_a_copy_in_plain_memory() -> None:
    """SOFTMAX wants all of its input; inputs and outputs of the model are plain, too."""
    text = NET.replace("outputs %6", "outputs %8").replace('%7 "shape"', '%7 "shape"') + "    %8 = SOFTMAX(%6) @4\n"
    text = text.replace("    inputs %0\n", '    %8 "z" int8[1,2] scale=0.00390625 zero=-128\n    inputs %0\n')
    analysis = analyze_as(request(pinned("y")), model(text), library=library)
    assert [op.kind for op in analysis.models[0].main.operators][-2:] == ["COPY", "SOFTMAX"]
    assert analysis.axes == {TensorRef(0, 0, 6): RowTable(1, 2, PAGE)}


def test_pages_of_a_plan_are_the_bound() -> None:
    analysis = analysis_of(pinned("a"), pinned("b"))
    plan = Auto()(analysis.problem)
    assert plan is not None
    assert peaks(analysis.problem, plan)[1] == 5 * PAGE


def test_rows_have_a_limit() -> None:
    text = """
        %0 "x" int8[1,6150,1,1] scale=0.5 zero=0
        %1 "weights" int8[1,1,1,1] scales=[0.5] zeros=[0] = [1]
        %2 "a" int8[1,6150,1,1] scale=8.0 zero=0
        %3 "y" int8[1,3075,1,1] scale=8.0 zero=0
        inputs %0
        outputs %3
        %2 = CONV_2D(%0, %1, _) padding=VALID @0
        %3 = MAX_POOL_2D(%2) padding=VALID stride_h=2 filter_h=2 @1
    """
    with pytest.raises(ModelError, match=r"P333.*m\.a has 6,150 rows.*more than 6,144"):
        analyze_as(request(pinned("a")), model(text), library=library)
