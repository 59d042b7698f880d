"""What a good manifest asks for: every word's effect on the request, and every default."""

from collections.abc import Mapping, Sequence

import pytest

from usmp_build.errors import ManifestError, Span
from usmp_build.manifest import Overrides, load, resolve
from usmp_build.request import (
    Access,
    Copying,
    Goal,
    InputOutput,
    ModelRequest,
    OperandRule,
    PlaceRequest,
    PoolRequest,
    Request,
)

PROJECT = '[project]\nname = "doorbell"\n'
KWS = '[models.kws]\npath = "kws.tflite"\n'
FULL = (
    PROJECT
    + """
[pools.sram]
access = "rw"
size = "64 KiB"
reserve = "1 KiB"
alignment = 32
region = "SRAM"
origin = 0x20000000

[pools.flash]
access = "ro"
section = ".my_weights"
region = "ITCM"
load_region = "FLASH"

[pools.dtcm]
access = "rw"
owner = "generated"
dims = 1

[targets.cpu]
kernels = "my_kernels"
isa = "portable"

[models.vad]
path = "vad.tflite"

[models.kws]
path = "models/kws.tflite"
sha256 = "ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef0123456789"
workspace_pools = ["dtcm", "sram"]
constant_pools = ["flash"]
io = "application"
inputs = "consumed"
outputs = "run"
names = { "serving_default_x:0" = "audio" }

[plan]
algorithm = "greedy_by_size"
options = { attempts = 3 }
goal = "ram"
"""
)
NOBODY: frozenset[int] = frozenset()


def request(
    text: str, only: Sequence[str] | None = None, paths: Mapping[str, str] | None = None, file: str = "usmp.toml"
) -> Request:
    return resolve(load(text.encode(), file), Overrides(None if only is None else tuple(only), paths or {}))


def messages(text: str, only: Sequence[str] | None = None, paths: Mapping[str, str] | None = None) -> str:
    with pytest.raises(ManifestError) as caught:
        request(text, only, paths)
    return str(caught.value)


def test_pools() -> None:
    sram, flash, dtcm = request(FULL).pools
    assert sram == PoolRequest(
        "sram", Access.WORKSPACE, 63 * 1024, 32, "SRAM", "", ".usmp.doorbell.sram", 0x20000000, sram.span
    )
    assert flash == PoolRequest(
        "flash", Access.CONSTANT, None, 16, "ITCM", "FLASH", ".my_weights", None, flash.span, writers=NOBODY
    )
    assert dtcm == PoolRequest("dtcm", Access.WORKSPACE, None, 16, "", "", ".usmp.doorbell.dtcm", None, dtcm.span)


def test_models() -> None:
    kws, vad = request(FULL).models
    assert kws == ModelRequest(
        name="kws",
        path="models/kws.tflite",
        sha256="abcdef0123456789" * 4,
        workspace_pools=(2, 0),
        constant_pools=(1,),
        io=InputOutput.APPLICATION,
        names={"serving_default_x:0": "audio"},
        span=kws.span,
        names_span=kws.names_span,
        sha256_span=kws.sha256_span,
    )
    assert vad == ModelRequest("vad", "vad.tflite", "", (0, 2), (1,), InputOutput.POOL, {}, vad.span, vad.names_span)


def test_plan() -> None:
    asked = request(FULL, file="some/where/usmp.toml")
    assert (asked.project, asked.manifest) == ("doorbell", "usmp.toml")
    assert (asked.targets[0].kernels, asked.algorithm, asked.options) == (
        "my_kernels",
        "greedy_by_size",
        {"attempts": 3},
    )


BELOW = PROJECT + KWS + "%s[plan]\n%s"


def test_goals() -> None:
    def goal(model: str, plan: str) -> Goal:
        return request(BELOW % (model, plan)).models[0].goal

    assert goal("", "") is Goal.RAM
    assert goal("", 'goal = "balanced"') is Goal.BALANCED
    assert goal('goal = "ram"\n', 'goal = "balanced"') is Goal.RAM
    assert goal('goal = "balanced"\n', "") is Goal.BALANCED
    assert "M120" in messages(BELOW % ('goal = "speed"\n', ""))


def test_rewrites_that_are_switched_off() -> None:
    plan = "rewrites = { dead = false, views = false, pads = true }"
    assert request(BELOW % ("", "")).models[0].rewrites_off == frozenset()
    assert request(BELOW % ("", plan)).models[0].rewrites_off == {"dead", "views"}
    own = "rewrites = { dead = true, parts = false }\n"
    assert request(BELOW % (own, plan)).models[0].rewrites_off == {"views", "parts"}
    kws = request(PROJECT + "[plan]\n" + plan, None, {"kws": "kws.tflite"}).models[0]
    assert kws.rewrites_off == {"dead", "views"}, "a model of the build system"


@pytest.mark.parametrize("where", ["plan", "models.kws"])
def test_a_rewrite_that_is_not_there(where: str) -> None:
    own, plan = ("", "rewrites.view = false") if where == "plan" else ("rewrites.view = false\n", "")
    message = messages(BELOW % (own, plan))
    assert 'error[M122]: there is no rewrite called "view"' in message
    assert 'did you mean "views"? Rewrites: activations, composites' in message


def test_a_switch_is_true_or_false() -> None:
    assert 'error[M107]: "views" must be true or false, not 1' in messages(BELOW % ("", "rewrites.views = 1"))


def test_a_model_may_multiply_as_much_more_as_the_plan_or_it_says() -> None:
    default, asked = request(BELOW % ("", "")), request(BELOW % ("", 'recompute = "10 %"'))
    exception = request(BELOW % ('recompute = "0%"\n', 'recompute = "10 %"'))
    assert [each.models[0].recompute for each in (default, asked, exception)] == [0, 10, 0]


def test_order_and_overlap() -> None:
    default, asked = request(BELOW % ("", "")), request(BELOW % ('order = "file"\n', "overlap = false"))
    assert (default.models[0].free_order, default.overlap) == (True, True)
    assert (asked.models[0].free_order, asked.overlap) == (False, False)


def test_defaults() -> None:
    asked = request(PROJECT + KWS)
    workspace, constants = asked.pools
    assert workspace == PoolRequest("workspace", Access.WORKSPACE, None, 16, "", "", ".usmp.doorbell.workspace", None)
    assert constants == PoolRequest(
        "constants", Access.CONSTANT, None, 16, "", "", ".rodata.usmp.doorbell.constants", None, writers=NOBODY
    )
    assert (asked.models[0].workspace_pools, asked.models[0].constant_pools) == ((0,), (1,))
    assert (asked.targets[0].kernels, asked.algorithm, asked.options) == ("reference", "auto", {})


def test_only_the_missing_kind_of_pool_is_implicit() -> None:
    assert [pool.name for pool in request(PROJECT + KWS + '[pools.flash]\naccess = "ro"').pools] == [
        "flash",
        "workspace",
    ]
    assert [pool.name for pool in request(PROJECT + KWS + '[pools.sram]\naccess = "rw"').pools] == [
        "sram",
        "constants",
    ]


def spanned(span: Span | str) -> str:
    assert isinstance(span, Span)
    return span.source[span.column - 1 : span.column - 1 + span.length]


def test_places_survive() -> None:
    asked = request(FULL)
    assert [spanned(pool.span) for pool in asked.pools] == ['"64 KiB"', "flash", "dtcm"]
    assert [spanned(model.span) for model in asked.models] == ['"models/kws.tflite"', '"vad.tflite"']
    assert spanned(asked.models[0].names_span) == "names"
    assert spanned(asked.plan_span) == '"greedy_by_size"'
    assert spanned(asked.targets[0].kernels_span) == '"my_kernels"'
    assert {key: spanned(span) for key, span in asked.option_spans.items()} == {"attempts": "attempts"}


def test_only_some_models() -> None:
    assert [model.name for model in request(FULL, ["vad"]).models] == ["vad"]
    assert [model.name for model in request(FULL, ["vad", "kws", "vad"]).models] == ["kws", "vad"]


def test_the_order_of_calls_changes_nothing() -> None:
    paths = {"b": "b.tflite", "a": "a.tflite"}
    assert request(FULL, ["b", "a"], paths) == request(FULL, ["a", "b"], dict(reversed(paths.items())))


def test_a_path_of_the_build_system_goes_first() -> None:
    (kws,) = request(FULL, ["kws"], {"kws": "build/kws.tflite"}).models
    assert kws.path == "build/kws.tflite"
    assert kws.workspace_pools == (2, 0)
    assert spanned(kws.span) == "kws"


def test_a_model_of_the_build_system() -> None:
    (kws,) = request(PROJECT, ["kws"], {"kws": "build/kws.tflite"}).models
    assert (kws.path, kws.workspace_pools, kws.constant_pools, kws.span) == ("build/kws.tflite", (0,), (1,), "")
    assert [model.name for model in request(PROJECT + KWS, None, {"vad": "vad.tflite"}).models] == ["kws", "vad"]


def test_a_model_may_leave_its_path_to_the_build_system() -> None:
    text = PROJECT + '[models.kws]\nio = "application"\n'
    (kws,) = request(text, None, {"kws": "build/kws.tflite"}).models
    assert (kws.path, kws.io) == ("build/kws.tflite", InputOutput.APPLICATION)
    assert 'usmp.toml:3:1: error[M106]: [models.kws] has no "path"' in messages(text)
    assert request(text + '[models.vad]\npath = "vad.tflite"', ["vad"]).models[0].name == "vad"


def test_a_model_that_nobody_knows() -> None:
    message = messages(FULL, ["kwz"])
    assert 'usmp.toml: error[M117]: --model asks for model "kwz", which no [models.*] defines' in message
    assert 'did you mean "kws"? Defined models: vad, kws; or give its file: --model kwz=FILE' in message
    assert "add its table" in messages(PROJECT, ["kws"])


def test_more_models_than_are_planned_together() -> None:
    paths = {f"m{number}": "kws.tflite" for number in range(257)}
    assert "usmp.toml: error[M140]: there are 257 models; at most 256 are planned together" in messages(
        PROJECT, [*paths], paths
    )
    assert "M140" not in messages(PROJECT, [*list(paths)[:255], "nobody"], paths)


def test_names_of_the_build_system_are_checked() -> None:
    paths = {"k w s": "a.tflite", "doorbell": "b.tflite", "KWS": "c.tflite", "string": "d.tflite"}
    message = messages(FULL, None, paths)
    assert 'usmp.toml: error[M109]: "k w s" is not a name' in message
    assert 'error[M110]: model "doorbell" and the project have the same name: both get a file doorbell.h' in message
    assert 'error[M110]: model "KWS" gets a file KWS.c, as does model "kws"' in message
    assert "hides the header <string.h>" in message


def test_no_models() -> None:
    assert "error[M119]: there is no model to plan" in messages(PROJECT)
    assert "error[M119]" in messages(FULL, [])


def test_all_problems_at_once() -> None:
    message = messages(FULL.replace('"dtcm", "sram"', '"dtc"').replace('"ram"', '"speed"'), ["kwz"])
    assert [line.split("[")[1][:4] for line in message.splitlines() if "error[" in line] == ["M117", "M104", "M120"]


def test_models_of_the_build_system_may_be_concurrent() -> None:
    text = 'concurrent = [["kws", "vad"]]\n' + PROJECT + KWS
    assert "M117" in messages(text)
    request = resolve(load(text.encode(), "usmp.toml"), Overrides(paths={"vad": "vad.tflite"}))
    assert request.concurrent == {(0, 1)}


PROCESSORS = (
    PROJECT
    + """
[targets.npu]
kernels = "extern"
copies = "extern"

[[targets.npu.rules]]
operators = "CONV_2D"
operands = ["outputs", "input 0"]
pools = ["tcm"]
scratch = "2 KiB"
alignment = 16

[[targets.npu.rules]]
scratch = 4

[targets.dsp]

[pools.sram]
access = "rw"

[pools.tcm]
access = "rw"
targets = ["npu"]
dims = 2
page_bytes = "2 KiB"

[pools.shared]
access = "rw"
targets = { cpu = "rw", npu = "ro" }

[pools.flash]
access = "ro"
targets = ["cpu", "dsp"]

[models.kws]
path = "kws.tflite"

[[models.kws.place]]
operators = "CONV_2D"
target = "npu"
pools = ["tcm", "sram"]
operands = ["outputs"]
kernels = "extern"

[[models.kws.place]]
tensors = "conv*/Relu"
axis_separators = [1, 3]

[[models.kws.place]]
range = [3, 7]
target = "cpu"
"""
)


def test_targets() -> None:
    cpu, npu, dsp = request(PROCESSORS).targets
    assert (cpu.name, cpu.kernels, cpu.copies, cpu.rules) == ("cpu", "reference", Copying.MEMCPY, ())
    assert (npu.name, npu.kernels, npu.copies, spanned(npu.span)) == ("npu", "extern", Copying.EXTERN, "npu")
    assert dsp.name == "dsp"
    first, second = npu.rules
    assert first == OperandRule("CONV_2D", ("outputs", "input 0"), (1,), 2048, 16, first.span)
    assert second == OperandRule("*", (), (), 4, 1, second.span)
    assert [spanned(rule.span) for rule in npu.rules] == ["operators", "[[targets.npu.rules]]"]


def test_a_declared_cpu_is_first_too() -> None:
    asked = request(PROCESSORS + '[targets.cpu]\nkernels = "mine"\n')
    assert [target.name for target in asked.targets] == ["cpu", "npu", "dsp"]
    assert asked.targets[0].kernels == "mine"


def test_who_reaches_a_pool() -> None:
    reach = {pool.name: (sorted(pool.readers), sorted(pool.writers)) for pool in request(PROCESSORS).pools}
    assert reach == {
        "sram": ([0, 1, 2], [0, 1, 2]),
        "tcm": ([1], [1]),
        "shared": ([0, 1], [0]),
        "flash": ([0, 2], []),
    }


def test_pages() -> None:
    assert [pool.page for pool in request(PROCESSORS).pools] == [0, 2048, 0, 0]


def test_places_of_models() -> None:
    places = request(PROCESSORS).models[0].places
    convolutions, tensors, positions = places
    assert convolutions == PlaceRequest(
        operators="CONV_2D", operands=("outputs",), target=1, pools=(1, 0), kernels="extern", span=convolutions.span
    )
    assert tensors == PlaceRequest(tensors="conv*/Relu", axis_separators=(1, 3), span=tensors.span)
    assert positions == PlaceRequest(positions=(3, 7), target=0, span=positions.span)
    assert [spanned(place.span) for place in places] == ["operators", "tensors", "range"]
