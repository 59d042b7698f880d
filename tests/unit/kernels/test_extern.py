"""The kernels of the application: what their functions are called, what they get, and what cannot be called."""

import pytest

from tests.support.road import model
from usmp_build.errors import KernelError
from usmp_build.interfaces.kernels import Absent, Derived, Input, Kernel, KernelCall, NoKernel, Output, Scratch
from usmp_build.ir.graph import Operator
from usmp_build.kernels.extern import Extern
from usmp_build.request import OperandRule

Q = "scale=0.5 zero=3"
CONVOLUTION = f"""
    %0 "in" int8[1,4,4,2] {Q}
    %1 "filter" int8[3,1,1,2] scales=[0.5, 0.25, 0.125] zeros=[0*3] = [1, 2, 3, 4, 5, 6]
    %2 "bias" int32[3] = [1, 2, 3]
    %3 "out" int8[1,2,2,3] {Q}
    inputs %0
    outputs %3
    %3 = CONV_2D(%0, %1, %2) padding=VALID stride_h=2 stride_w=2 activation=RELU6
"""


def kernel(text: str, *rules: OperandRule, copied: bool = False) -> Kernel | NoKernel:
    """The kernel of the first operator on target "npu"; of a copy of its input, if asked for."""
    graph = model(text).main
    first = graph.operators[0]
    return Extern("npu", rules).kernel(Operator("COPY", first.inputs[:1], first.outputs) if copied else first, graph)


def call(text: str, *rules: OperandRule, copied: bool = False) -> KernelCall:
    declared_kernel = kernel(text, *rules, copied=copied)
    assert isinstance(declared_kernel, Kernel)
    (only,) = declared_kernel.calls
    return only


def declared(*calls: KernelCall) -> str:
    sources = Extern().sources(calls, "doorbell")
    assert sources.source == ""
    return sources.header


def test_a_convolution() -> None:
    declared_kernel = kernel(
        CONVOLUTION, OperandRule("CONV_2D", (), scratch=64, alignment=16), OperandRule("ADD", (), scratch=99)
    )
    assert isinstance(declared_kernel, Kernel)
    assert declared_kernel.calls[0].operands == (Input(0), Input(1), Input(2), Derived(0), Output(0), Scratch(0))
    assert [(request.size, request.name) for request in declared_kernel.scratch] == [(64, "scratch")]
    assert [constant.name for constant in declared_kernel.constants] == ["filter_scales"]
    assert dict(declared_kernel.calls[0].parameters.fields if declared_kernel.calls[0].parameters else ()) == {
        "input": (4, (1, 4, 4, 2)),
        "filter": (4, (3, 1, 1, 2)),
        "output": (4, (1, 2, 2, 3)),
        "input_quantization": (0.5, 3),
        "filter_zero_point": 0,
        "output_quantization": (0.5, 3),
        "padding": 1,
        "stride_h": 2,
        "stride_w": 2,
        "dilation_h": 1,
        "dilation_w": 1,
        "activation": 3,
    }


def test_the_prototype_of_a_convolution() -> None:
    rule = OperandRule("*", (), scratch=64)
    assert declared(call(CONVOLUTION, rule), call(CONVOLUTION, rule)) == (
        """\
/* CONV_2D on target "npu", with 64 bytes of scratch: supplied by the application. */
#define DOORBELL_NPU_CONV_2D_S8 1
struct doorbell_npu_conv_2d_s8_parameters {
    struct usmp_shape input;
    struct usmp_shape filter;
    struct usmp_shape output;
    struct usmp_quantization input_quantization;
    int32_t filter_zero_point;
    struct usmp_quantization output_quantization;
    int32_t padding; /* 0 SAME, 1 VALID */
    int32_t stride_h;
    int32_t stride_w;
    int32_t dilation_h;
    int32_t dilation_w;
    int32_t activation; /* 0 NONE, 1 RELU, 2 RELU_N1_TO_1, 3 RELU6, 4 TANH, 5 SIGN_BIT */
};
void doorbell_npu_conv_2d_s8(
    const struct doorbell_npu_conv_2d_s8_parameters *p, const int8_t *input, const int8_t *filter, const usmp_i32 *bias,
    const usmp_f32 *filter_scales, int8_t *output, uint8_t *scratch);"""
    )


def test_a_bias_that_is_left_out_is_null_in_the_same_prototype() -> None:
    for text in (CONVOLUTION.replace(", %2)", ", _)"), CONVOLUTION.replace(", %2)", ")")):
        without = call(text)
        assert Absent() in without.operands
        assert (without.function, without.prototype) == (call(CONVOLUTION).function, call(CONVOLUTION).prototype)


def test_a_filter_with_one_scale_gets_one_for_each_channel() -> None:
    text = CONVOLUTION.replace("scales=[0.5, 0.25, 0.125] zeros=[0*3]", "scale=0.5")
    declared_kernel = kernel(text)
    assert isinstance(declared_kernel, Kernel)
    assert len(declared_kernel.constants[0].data) == 3 * 4


def test_copies() -> None:
    copied = call(CONVOLUTION, copied=True)
    assert copied.operands == (Input(0), Output(0))
    assert declared(copied) == (
        """\
/* Brings a tensor to or from where target "npu" works: supplied by the application. */
#define DOORBELL_NPU_COPY 1
struct doorbell_npu_copy_parameters {
    int32_t size; /* bytes */
};
void doorbell_npu_copy(const struct doorbell_npu_copy_parameters *p, const void *source, void *destination);"""
    )


def operator(kind: str, inputs: tuple[str, ...], output: str = "int8[4]") -> str:
    """The text of a model with one operator; inputs are given by type and shape, "_" for one that is left out."""
    numbered = {i: text for i, text in enumerate(inputs) if text != "_"}
    tensors = "\n".join(f'%{i} "t{i}" {text}' for i, text in numbered.items())
    given = ", ".join(f"%{i}" if i in numbered else "_" for i in range(len(inputs)))
    gap = "\n".join(f'%{i} "gap" int8[1]' for i in range(len(inputs)) if i not in numbered)
    parts = [tensors, gap, f'%{len(inputs)} "out" {output}']
    lines = sorted("\n".join(filter(None, parts)).splitlines(), key=lambda line: int(line[1:].split()[0]))
    return "\n".join(
        [
            *lines,
            f"inputs {', '.join(f'%{i}' for i in numbered)}",
            f"outputs %{len(inputs)}",
            f"%{len(inputs)} = {kind}({given})",
        ]
    )


@pytest.mark.parametrize(
    ("kind", "inputs", "output", "function"),
    [
        ("ADD", ("int8[4]", "int8[4]"), "int8[4]", "npu_add_s8"),
        ("ADD", ("int8[4]", "int8[4]"), "int16[4]", "npu_add_s8_s8_s16"),
        ("RELU", ("float32[4]",), "float32[4]", "npu_relu_f32"),
        ("QUANTIZE", ("float32[4]",), "int8[4]", "npu_quantize_f32_s8"),
        ("CONCATENATION", ("int8[2]", "int8[1]", "int8[1]"), "int8[4]", "npu_concatenation_3_s8"),
        ("GATHER", ("int8[9]", "int32[4]"), "int8[4]", "npu_gather_s8_s32_s8"),
        ("SVDF", ("int8[4]", "_", "int8[4]"), "int8[4]", "npu_svdf_s8_none_s8_s8"),
        ("DEQUANTIZE", ("int8[2] scales=[0.5, 0.25] zeros=[0*2]",), "float32[2]", "npu_dequantize_s8c_f32"),
    ],
)
def test_names_say_what_prototypes_depend_on(kind: str, inputs: tuple[str, ...], output: str, function: str) -> None:
    assert call(operator(kind, inputs, output)).function == function


def test_scales_of_other_tensors_come_too() -> None:
    text = declared(call(operator("DEQUANTIZE", ("int8[2] scales=[0.5, 0.25] zeros=[0*2]",), "float32[2]")))
    assert "const int8_t *input, const usmp_f32 *input_scales,\n    usmp_f32 *output);" in text
    assert "int32_t input_zero_point;" in text


@pytest.mark.parametrize(
    ("kind", "inputs", "reason_text"),
    [
        ("RELU", ("int8[1,1,1,1,1,1,4]",), "7 dimensions"),
        ("RELU", ("resource[1]",), "RESOURCE, which has no form in C"),
        ("RELU", ("int8[0]",), "is empty"),
        ("RELU", ("int8[2] scales=[0.5, 0.25] zeros=[1, 2]",), "several zero points"),
        ("CONV_2D", ("int8[1,4,4,2]", "int8[3,1,1,2] scales=[0.5, 0.25] zeros=[0*2]"), "scales that are not those"),
    ],
)
def test_what_cannot_be_called(kind: str, inputs: tuple[str, ...], reason_text: str) -> None:
    answer = kernel(operator(kind, inputs))
    assert isinstance(answer, NoKernel)
    assert reason_text in answer.reason


def test_custom_operators_that_only_differ_by_signs() -> None:
    first, second = (call(operator(f'"CUSTOM:{code}"', ("int8[4]",))) for code in ("a-b", "a.b"))
    with pytest.raises(KernelError, match="K409") as caught:
        declared(first, second)
    assert "doorbell_npu_custom_a_b_s8" in str(caught.value)


def test_a_variable_is_no_constant_pointer() -> None:
    text = """
        %0 "x" int8[1,4] scale=0.5 zero=3
        %1 "features" int8[2,4] scale=0.5 zero=0 = zeros
        %2 "times" int16[2,3] scale=0.5 zero=0 = zeros
        %3 "state" int16[1,6] scale=0.5 zero=0 variable
        %4 "y" int8[1,2] scale=0.5 zero=3
        inputs %0
        outputs %4
        %4 = SVDF(%0, %1, %2, _, %3) rank=1
    """
    declared_kernel = kernel(text)
    assert isinstance(declared_kernel, Kernel)
    assert declared_kernel.updates == {4}
    assert "const usmp_i16 *input_2" in declared(*declared_kernel.calls)
    assert ", usmp_i16 *input_4" in declared(*declared_kernel.calls).replace("\n", " ").replace("    ", "")
