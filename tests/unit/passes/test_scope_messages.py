"""What scopes say when operands have no pool, and what the C of copies and of several libraries looks like."""

from dataclasses import replace

import pytest

from tests.support.road import PlanOnly, analyze_as, every, firmware, model
from tests.support.scopes import APART, CHAIN, EVERYWHERE, NPU
from usmp_build.codegen.arrange import arrange
from usmp_build.errors import ManifestError, Span
from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Output, Whole
from usmp_build.layout.layout import Layout
from usmp_build.planner.algorithms.greedy import GreedyBySize
from usmp_build.report.summarize import summarize
from usmp_build.request import Copying, OperandRule, PlaceRequest, Request
from usmp_build.search.operator_order import BestCandidate


def test_an_operand_without_a_pool_is_named_with_all_who_restrict_it() -> None:
    rules = (OperandRule("CONV_2D", ("output 0",), (0,)),)
    asked = firmware({"ram": "cpu", "local": "npu"}, places=(NPU,), rules=rules, copies=Copying.EXTERN)
    with pytest.raises(ManifestError) as caught:
        analyze_as(asked, model(CHAIN))
    assert str(caught.value) == (
        'm.tflite: error[P313]: output 0 of operator 1 (CONV_2D) on target "npu", tensor 2 "b", has no pool left: '
        'target "npu" reads and writes only local; a rule of target "npu" allows only ram; '
        'model "m" leaves it ram, local\n'
        'help: let target "npu" reach more pools (`targets` of a pool); or name more pools in the target\'s rule; '
        "or list more pools in workspace_pools of the model"
    )


def test_a_message_about_a_pin_has_the_place_of_its_rule() -> None:
    """Target 0 resets variables, and does not reach where this one is pinned."""
    pin = PlaceRequest(tensors="b", pools=(1,), span=Span("usmp.toml", 7, 1))
    text = CHAIN.replace('"b" int8[4]', '"b" int8[4] variable')
    with pytest.raises(ManifestError, match=r"usmp.toml:7:1: error\[P313\].*\nhelp: .*drop the rule of place"):
        analyze_as(firmware(APART, places=(NPU, pin), copies=Copying.EXTERN), model(text))


def laid_out(asked: Request, library: PlanOnly, text: str) -> Layout:
    """The C of a plan, every library being the same one."""
    analysis = analyze_as(asked, model(text), library=library)
    plan = GreedyBySize()(analysis.problem)
    assert plan is not None
    summary = summarize(asked, BestCandidate(analysis, plan, bound=0), plan)
    return arrange(asked, analysis, plan, summary, every(asked, library))


def test_a_copy_is_a_function_of_its_own() -> None:
    run = Kernel((KernelCall("f", Whole(), (Input(0), Output(0))),))
    move = Kernel((KernelCall("npu_copy", Whole(), (Input(0), Output(0))),))
    asked = firmware(APART, places=(NPU,), copies=Copying.EXTERN)
    kinds = ("CONV_2D", "TANH", "ADD", "MUL")
    layout = laid_out(asked, PlanOnly({"COPY": move} | dict.fromkeys(kinds, run)), CHAIN)
    steps = {step.function: step for step in layout.models[0][1].steps}
    (call,) = steps["m_copy_4"].calls
    assert (call.function, call.arguments) == ("t_npu_copy", ("input", "output"))
    assert steps["m_copy_4"].signature == ("const int8_t *input", "int8_t *output")


def test_two_libraries_may_not_call_a_function_the_same() -> None:
    run = Kernel((KernelCall("f", Whole(), (Input(0), Output(0))),))
    asked = firmware(EVERYWHERE, places=(PlaceRequest(operators="TANH", target=1),))
    asked = replace(asked, targets=(asked.targets[0], replace(asked.targets[1], kernels="other")))
    text = """
        %0 "x" int8[4]
        %1 "a" int8[4]
        %2 "y" int8[4]
        inputs %0
        outputs %2
        %1 = TANH(%0)
        %2 = CONV_2D(%1)
    """
    with pytest.raises(ManifestError, match=r'P306\]: the kernel libraries "other" and "reference" both .* function f'):
        laid_out(asked, PlanOnly({"CONV_2D": run, "TANH": run}), text)
