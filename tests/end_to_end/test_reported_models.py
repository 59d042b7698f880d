"""What files did that broke TensorFlow Lite and TensorFlow Lite Micro: each is refused by name, or does no harm.

The files are not those of the reports, but small ones with the same thing wrong in them: what it is follows the
advisories of TensorFlow (`tensorflow/security/advisory/` there, and its GHSA advisories from 2022 on).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.flatbuffer import Node, model, operator, operator_code, quantization, subgraph, tensor, write
from tests.support.host_c import built
from tests.support.processes import output
from tests.support.road import request
from usmp_build import pipeline
from usmp_build.errors import UsmpError
from usmp_build.importers.tflite import import_tflite
from usmp_build.output.bundle import Bundle

Operand = tuple[Node, bytes | None]
"""A tensor, and its data if it is constant."""
MOST = (1 << 31) - 1


def x(*shape: int, dtype: str = "INT8", **fields: Any) -> Operand:
    return tensor("x", shape, dtype, **fields), None


def q(*shape: int) -> Operand:
    return x(*shape, Quantization=quantization([0.5], [0]))


def c(*values: int, shape: Sequence[int] | None = None) -> Operand:
    return tensor("c", [len(values)] if shape is None else shape, "INT32"), np.array(values, np.int32).tobytes()


def w(*shape: int) -> Operand:
    return tensor("w", shape, Quantization=quantization([0.5], [0])), bytes(int(np.prod(shape)))


def one(kind: str, inputs: Sequence[Operand | None], outputs: Sequence[Operand], **options: Any) -> Node:
    """A model of one operator, whose inputs are those of the model unless they are constants or variables."""
    operands = [*filter(None, inputs), *outputs]
    data = [content for _, content in operands if content is not None]
    numbers = iter(range(1, len(data) + 1))
    for node, content in operands:
        if content is not None:
            node.fields["Buffer"] = next(numbers)
    places = iter(range(len(operands)))
    reads = [-1 if each is None else next(places) for each in inputs]
    computed = [i for i in reads if i >= 0 and operands[i][1] is None and "IsVariable" not in operands[i][0].fields]
    table = Node(str(options.pop("table")), **options) if options else None
    op = operator(kind, reads, writes := [*places], table)
    return model(subgraph([node for node, _ in operands], [op], computed, writes), data=data)


def conv(image: Operand, filters: Operand, out: Operand, bias: Operand | None = None, **options: int) -> Node:
    strides = {"StrideH": 1, "StrideW": 1}
    return one("CONV_2D", [image, filters, bias], [out], table="Conv2DOptions", **strides | options)


def depthwise(image: Operand, filters: Operand, out: Operand, bias: Operand | None = None) -> Node:
    options = {"StrideH": 1, "StrideW": 1, "DepthMultiplier": 1}
    return one("DEPTHWISE_CONV_2D", [image, filters, bias], [out], table="DepthwiseConv2DOptions", **options)


def pool(kind: str, **options: int) -> Node:
    sizes = {"StrideH": 1, "StrideW": 1, "FilterHeight": 1, "FilterWidth": 1}
    return one(kind, [q(1, 4, 4, 1)], [q(1, 4, 4, 1)], table="Pool2DOptions", **sizes | options)


def upsampled(stride: int) -> Node:
    operands = [c(1, 4, 4, 1), w(1, 2, 2, 1), q(1, 2, 2, 1)]
    return one("TRANSPOSE_CONV", operands, [q(1, 4, 4, 1)], table="TransposeConvOptions", StrideH=2, StrideW=stride)


def blocks(kind: str, source: Operand, target: Operand) -> Node:
    return one(kind, [source, c(0, 0), c(0, 0, 0, 0, shape=[2, 2])], [target])


def svdf(state: Operand, rank: int) -> Node:
    return one("SVDF", [q(1, 4), w(4, 4), w(4, 2), None, state], [q(1, 4)], table="SVDFOptions", Rank=rank)


def dense(weights: Operand) -> Node:
    return one("FULLY_CONNECTED", [q(1, 4), weights, None], [q(1, 4)], table="FullyConnectedOptions", KeepNumDims=False)


def sliced(mask: int) -> Node:
    operands = [q(2, 2), c(0, 0, 0), c(1, 1, 1), c(1, 1, 1)]
    return one("STRIDED_SLICE", operands, [q(2, 2)], table="StridedSliceOptions", EllipsisMask=mask)


def endless() -> Node:
    """A loop whose body is its condition, which is such a loop again."""
    loops = [
        operator("WHILE", [0], [1], Node("WhileOptions", CondSubgraphIndex=1, BodySubgraphIndex=1)) for _ in range(2)
    ]
    return model(*(subgraph([tensor("a", [], "BOOL"), tensor("b", [], "BOOL")], [loop], [0], [1]) for loop in loops))


def relu(source: int, target: int, *tensors: Node, **fields: Any) -> Node:
    graph = subgraph(
        tensors or [tensor("a"), tensor("b"), tensor("c")], [operator("RELU", [source], [target])], [0], [1]
    )
    graph.fields |= fields
    return model(graph)


def of_code(code: int) -> Node:
    op = Node("Operator", OpcodeIndex=code, Inputs=[0], Outputs=[1], Intermediates=[77])
    (a, _), (b, _) = q(4), q(4)
    return model(subgraph([a, b], [op], [0], [1]), OperatorCodes=[operator_code("RELU")])


ANSWER = x(4, dtype="INT32")
SPARSE = Node("SparsityParameters", TraversalOrder=[9, -1])
NO_KERNEL = "the reference library has no kernel of this kind"
NOTHING = "there is nothing to compute with"
DOES_NOT_FIT = "which is not compatible with [1, 4]"

REFUSED: Mapping[str, tuple[str, str, Node]] = {
    "CVE-2020-15207": ("T249", "along axis -9", one("MEAN", [q(1, 4), c(-9)], [q(1)])),
    "CVE-2020-15208": ("T247", DOES_NOT_FIT, one("ADD", [q(1, 4), q(1, 3)], [q(1, 4)])),
    "CVE-2020-15209": ("T208", "in buffer 9", dense(x(4, 4, Buffer=9))),
    "CVE-2020-15210": ("T235", "reads and writes tensor 1", relu(1, 1)),
    "CVE-2020-15211": ("T231", "output 0 is tensor -1", relu(0, -1)),
    "CVE-2020-15212": ("P305", NO_KERNEL, one("SEGMENT_SUM", [q(2, 4), c(1, -1)], [q(2, 4)])),
    "CVE-2020-15213": ("T222", "at most", one("SEGMENT_SUM", [q(2, 4), c(0, MOST)], [q(MOST, MOST, 4)])),
    "CVE-2020-15214": ("P305", NO_KERNEL, one("SEGMENT_SUM", [q(2, 4), c(1, 0)], [q(2, 4)])),
    "CVE-2021-29585": ("T232", "stride_w is 0", conv(q(1, 4, 4, 1), w(1, 1, 1, 1), q(1, 4, 4, 1), StrideW=0)),
    "CVE-2021-29586": ("T232", "stride_w is 0", pool("MAX_POOL_2D", StrideW=0)),
    "CVE-2021-29587": ("T249", "blocks of 0", one("SPACE_TO_DEPTH", [q(1, 4, 4, 1)], [q(1, 2, 2, 4)])),
    "CVE-2021-29588": ("T232", "stride_w is 0", upsampled(0)),
    "CVE-2021-29589": ("T247", NOTHING, one("GATHER_ND", [q(0, 4), c(0, shape=[1, 1])], [q(1, 4)])),
    "CVE-2021-29590": ("T247", DOES_NOT_FIT, one("MINIMUM", [q(1, 4), q(0, 4)], [q(1, 4)])),
    "CVE-2021-29591": ("T243", "leads back to subgraph 1", endless()),
    "CVE-2021-29593": ("T249", "blocks of [0, 0]", blocks("BATCH_TO_SPACE_ND", q(4, 2, 2, 1), q(1, 4, 4, 1))),
    "CVE-2021-29594": ("T247", NOTHING, conv(q(1, 4, 4, 1), w(1, 0, 1, 1), q(1, 4, 4, 1))),
    "CVE-2021-29595": ("T249", "blocks of 0", one("DEPTH_TO_SPACE", [q(1, 2, 2, 4)], [q(1, 4, 4, 1)])),
    "CVE-2021-29596": ("T247", NOTHING, one("EMBEDDING_LOOKUP", [c(0, 1), w(0, 4)], [q(2, 4)])),
    "CVE-2021-29597": ("T249", "blocks of [0, 0]", blocks("SPACE_TO_BATCH_ND", q(1, 4, 4, 1), q(4, 2, 2, 1))),
    "CVE-2021-29598": ("T232", "rank is 0", svdf(x(1, 8, IsVariable=True), rank=0)),
    "CVE-2021-29599": ("T246", "its output 0 is missing", one("SPLIT", [c(0), q(4, 2)], [])),
    "CVE-2021-29600": ("P305", NO_KERNEL, one("ONE_HOT", [x(0, dtype="INT32"), c(3), c(1), c(0)], [x(0, 3)])),
    "CVE-2021-29601": ("T221", "unknown shape, [-2, 1]", one("CONCATENATION", [q(MOST, 1), q(MOST, 1)], [q(-2, 1)])),
    "CVE-2021-29602": ("T247", NOTHING, depthwise(q(1, 4, 4, 0), w(1, 1, 1, 4), q(1, 4, 4, 4))),
    "CVE-2021-29603": ("T249", "along axis 9", one("ARG_MAX", [q(2, 4), c(9)], [x(2, dtype="INT64")])),
    "CVE-2021-29604": ("P305", NO_KERNEL, one("HASHTABLE_LOOKUP", [c(1), c(1, 2), w(0, 4)], [q(1, 4), x(1)])),
    "CVE-2021-29605": ("T220", "100000 dimensions", one("RELU", [q(*[1] * 100_000)], [q(1)])),
    "CVE-2021-29606": ("T249", "along axis 7", one("SPLIT_V", [q(4, 2), c(2, 2), c(7)], [q(2, 2), q(2, 2)])),
    "CVE-2021-37680": ("T247", NOTHING, dense(w(4, 0))),
    "CVE-2021-37681": ("P305", "its state is not a variable", svdf(q(1, 8), rank=1)),
    "CVE-2021-37682": ("K401", 'needs the scale of tensor 0 "x"', one("ADD", [x(4), x(4)], [x(4)])),
    "CVE-2021-37684": ("T232", "filter_h is 0", pool("AVERAGE_POOL_2D", FilterHeight=0)),
    "CVE-2021-37686": ("P305", "it has an ellipsis", sliced(mask=7)),
    "CVE-2021-37688": ("T247", DOES_NOT_FIT, one("ADD", [q(1, 4), w(0)], [q(1, 4)])),
    "CVE-2021-37691": ("P305", NO_KERNEL, one("LSH_PROJECTION", [c(shape=[0, 1]), c(1)], [ANSWER])),
    "CVE-2022-21741": ("T247", NOTHING, depthwise(q(1, 4, 4, 1), w(1, 1, 1, 0), q(1, 4, 4, 0))),
    "CVE-2022-23557": ("T247", "its bias, has 0", depthwise(q(1, 4, 4, 2), w(1, 1, 1, 2), q(1, 4, 4, 2), c())),
    "CVE-2022-23558": ("T224", "4 bytes of data", one("RESHAPE", [q(1, 4), c(1, shape=[1 << 29])], [q(1, 4)])),
    "CVE-2022-23559": ("T224", "4 bytes of data", one("EMBEDDING_LOOKUP", [c(0), c(1, shape=[MOST, 2])], [q(2, 4)])),
    "CVE-2022-23560": ("T206", "is sparse", one("RELU", [x(4, Sparsity=Node("SparsityParameters"))], [x(4)])),
    "CVE-2022-23561": ("T206", "is sparse", one("RELU", [x(4, Sparsity=SPARSE)], [x(4)])),
    "CVE-2023-27579": ("T247", NOTHING, conv(q(1, 4, 4, 0), w(1, 1, 1, 0), q(1, 4, 4, 1))),
    "tflite-micro#3071": ("T220", "40 dimensions", relu(0, 1, tensor("a", [2] * 40), tensor("b"))),
    "tflite-micro#3072": ("T222", "at most", relu(0, 1, tensor("a", [MOST, MOST]), tensor("b"))),
    "tflite-micro#3073": ("T231", "output 0 is tensor 77", relu(0, 77)),
    "tflite-micro#3074": ("T231", "input 0 is tensor 77", relu(77, 1)),
    "tflite-micro#3075": ("T208", "in buffer 77", relu(0, 1, tensor("a"), tensor("b", Buffer=77))),
    "tflite-micro#3076": ("T208", "in buffer 77", relu(0, 1, tensor("a"), tensor("b"), tensor("c", Buffer=77))),
    "tflite-micro#3077": ("T208", "in buffer 77", relu(0, 1, tensor("a", Buffer=77), tensor("b"))),
    "tflite-micro#3389": ("T208", "in buffer 9999", relu(0, 1, tensor("a", Buffer=9999), tensor("b"))),
    "no report: an operator code": ("T210", "operator code 77", of_code(77)),
    "no report: an input": ("T231", "subgraph 0: input 0 is tensor 77", relu(0, 1, Inputs=[77])),
}
HARMLESS: Mapping[str, tuple[str, Node]] = {
    "CVE-2021-29592": ("shapes are those of tensors", one("RESHAPE", [q(1, 4), x(1, dtype="INT32")], [q(2, 2)])),
    "CVE-2021-37683": ("by 0 gives 0", one("DIV", [x(4, dtype="INT32"), c(0, 0, 0, 0)], [ANSWER])),
    "CVE-2021-37685": ("shapes are those of tensors", one("EXPAND_DIMS", [q(4), c(-9)], [q(1, 4)])),
    "CVE-2021-37687": ("the nearest index is taken", one("GATHER_ND", [q(2, 4), c(-9, shape=[1, 1])], [q(1, 4)])),
    "CVE-2021-37689": ("without axes, nothing is added up", one("SUM", [q(4), c(shape=[0])], [q(4)])),
    "no report: an intermediate": ("intermediate tensors are not read", of_code(0)),
}
"""Why, and the file."""


def generated(file: Node) -> Bundle:
    imported = import_tflite(write(file), "m", "m.tflite")
    return pipeline.emit(pipeline.lay_out(pipeline.plan_models(request("m"), (imported,))))


@pytest.mark.parametrize("report", REFUSED)
def test_what_a_report_is_about_is_refused_by_name(report: str) -> None:
    code, message, file = REFUSED[report]
    with pytest.raises(UsmpError) as caught:
        generated(file)
    assert [each.code for each in caught.value.diagnostics] == [code]
    assert message in caught.value.diagnostics[0].message
    assert caught.value.diagnostics[0].place == "m.tflite"


@pytest.mark.parametrize("report", HARMLESS)
def test_what_is_accepted_runs_without_a_fault(tmp_path: Path, report: str) -> None:
    folder = tmp_path / "generated"
    folder.mkdir()
    for file in generated(HARMLESS[report][1]).files:
        (folder / file.path).write_bytes(file.data)
    main = '#include "m.h"\nint main(void) { return m_run() != USMP_OK; }\n'
    output([built(folder, tmp_path, main, "cc", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")])
