"""Models that TVM imports: planned with all others, generated as C, and equal to what TVM computes."""

import json
import shutil
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import DATA, call, says
from tests.support.host_c import COMPILERS, compile_folder
from tests.support.processes import Done
from tests.support.tvm import needs_tvm, with_tvm, write_models
from usmp_build.errors import ModelError
from usmp_build.importers.tvm import process

POOLS = '[project]\nname = "q"\n[pools.sram]\naccess = "rw"\n[pools.flash]\naccess = "ro"\n'


def project(folder: Path, *paths: Path, pools: str = POOLS) -> None:
    tables = (f'[models.m{number}]\npath = "{path.as_posix()}"\n' for number, path in enumerate(paths))
    (folder / "usmp.toml").write_text(pools + "".join(tables), encoding="utf-8")


def usmp_build(folder: Path, *arguments: str) -> Done:
    return with_tvm("-m", "usmp_build", *arguments, cwd=folder)


def plan_of(folder: Path) -> dict[str, Any]:
    done = usmp_build(folder, "generate", "--out", "out")
    assert done.code == 0, done.err
    plan: dict[str, Any] = json.loads((folder / "out" / "plan.json").read_text("utf-8"))
    return plan


@needs_tvm
@pytest.mark.drawn("models", "outputs")
@pytest.mark.parametrize(
    ("models", "outputs"),
    [
        ("residual quantized", "2 1"),
        pytest.param("transformer indices", "1 3", marks=pytest.mark.long),
        pytest.param("mobile normalized", "1 1", marks=pytest.mark.long),
        pytest.param("twice saved branch guarded tuned", "3 3 2 1 1", marks=pytest.mark.long),
    ],
)
def test_outputs_are_those_of_tvm(tmp_path: Path, models: str, outputs: str) -> None:
    """Indices of gathers are drawn out of range, too."""
    project(tmp_path, *write_models(tmp_path, *models.split()))
    done = usmp_build(tmp_path, "selftest", "--sanitize")
    assert done.code == 0, done.err
    ends = "10 runs, all equal to those of TVM's virtual machine\n"
    assert done.out == "".join(f"m{n}: {count} tensors, {ends}" for n, count in enumerate(outputs.split()))


@needs_tvm
@pytest.mark.parametrize(("model", "is_quantized"), [("quantized", True), ("residual", False)])
def test_a_quantized_model_that_becomes_floats_says_so_first(tmp_path: Path, model: str, is_quantized: bool) -> None:
    project(tmp_path, *write_models(tmp_path, model))
    done = usmp_build(tmp_path, "plan")
    assert done.code == 0, done.err
    assert done.out.startswith('note: model "m0": it is quantized (DequantizeLinear)') == is_quantized


@needs_tvm
@pytest.mark.long
def test_tvm_agrees_with_what_defines_onnx(tmp_path: Path) -> None:
    names = ("residual", "transformer", "mobile", "normalized", "quantized", "indices")
    done = with_tvm("-m", "tests.support.tvm_reference", *names, cwd=tmp_path)
    assert done.code == 0, done.err
    differences = dict(line.split() for line in done.out.splitlines())
    assert differences.keys() == {*names}
    assert max(map(float, differences.values())) < 1e-5


@needs_tvm
def test_the_application_supplies_functions_that_a_module_calls_by_name(tmp_path: Path) -> None:
    project(tmp_path, *write_models(tmp_path, "supplied"))
    assert plan_of(tmp_path)["models"][0]["extern_functions"] == ["m0_filtered"]
    assert "void m0_filtered(const usmp_f32 *arg0, usmp_f32 *arg1);" in (tmp_path / "out" / "m0.h").read_text("utf-8")


@needs_tvm
def test_its_c_needs_nothing_of_tvm_and_compiles_without_a_warning(tmp_path: Path) -> None:
    project(tmp_path, *write_models(tmp_path, "residual"))
    plan = plan_of(tmp_path)
    assert plan["models"][0]["extern_functions"] == []
    text = (tmp_path / "out" / "m0.c").read_text("utf-8")
    assert not any(word in text for word in ("tvm", "TVM", "DLTensor", "malloc"))
    assert "static void m0_softmax(const usmp_f32 *" in text
    assert "supplied by the application" not in (tmp_path / "out" / "m0.h").read_text("utf-8")
    for compiler, standard in COMPILERS:
        compile_folder(tmp_path / "out", compiler, standard)


@needs_tvm
def test_names_are_those_of_the_file(tmp_path: Path) -> None:
    project(tmp_path, *write_models(tmp_path, "residual"))
    header = plan_of(tmp_path) and (tmp_path / "out" / "m0.h").read_text("utf-8")
    assert "*x;" in header
    assert "*classes;" in header
    assert "*features;" in header


@needs_tvm
def test_it_shares_pools_with_a_tflite_model(tmp_path: Path) -> None:
    """Models that run one after the other take the memory of the larger one."""
    [model] = write_models(tmp_path, "residual")
    sizes = []
    for paths in ([model], [DATA / "digits.tflite"], [model, DATA / "digits.tflite"]):
        project(tmp_path, *paths)
        sizes.append(next(pool["size"] for pool in plan_of(tmp_path)["pools"] if pool["name"] == "sram"))
    assert sizes[2] == max(sizes[:2])


@needs_tvm
def test_what_is_read_element_by_element_is_written_over(tmp_path: Path) -> None:
    """The result of a softmax lies on its argument: with overlap off, there are two of 1,024 bytes."""
    [model] = write_models(tmp_path, "elementwise")
    sizes = []
    for overlap in ("true", "false"):
        project(tmp_path, model, pools=f"{POOLS}[plan]\noverlap = {overlap}\n")
        sizes.append(next(pool["size"] for pool in plan_of(tmp_path)["pools"] if pool["name"] == "sram"))
    assert sizes[1] >= 2048 > sizes[0]


@needs_tvm
def test_the_report_has_the_plan_of_tvm(tmp_path: Path) -> None:
    """Two tensors of 1,024 bytes are between its functions, and in one of these are two rows of 8 floats."""
    [model] = write_models(tmp_path, "elementwise")
    project(tmp_path, model)
    [alone] = json.loads(usmp_build(tmp_path, "plan", "--json").out)["alternatives"]["models"]
    own = alone["compiler_plan"]
    assert own == {"compiler": "TVM", "tensors": 2048, "functions": 64}
    assert usmp_build(tmp_path, "report", "--out", "page.html").code == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "m0: TVM would plan 2,112 bytes beside inputs and outputs (2,048 for tensors, 64 for buffers of" in page
    assert f"here it takes {alone['workspace']:,} alone." in page


@needs_tvm
@pytest.mark.long
def test_a_schedule_is_kept(tmp_path: Path) -> None:
    """The copy of a tile of its operand would be computed where it is used, and its function be fused with the next."""
    project(tmp_path, *write_models(tmp_path, "tuned"))
    buffers = {buffer["name"]: buffer["size"] for buffer in plan_of(tmp_path)["buffers"]}
    assert buffers["m0.x_global"] == 4 * 8 * 8


@needs_tvm
def test_memory_scopes_of_devices_and_schedules_are_pools(tmp_path: Path) -> None:
    [model] = write_models(tmp_path, "scoped")
    pools = f'{POOLS}[pools.tcm]\naccess = "rw"\n'
    project(tmp_path, model, pools=pools)
    done = usmp_build(tmp_path, "plan")
    assert done.code == 1
    assert 'error[P316]: "lv1" of "main" is in the memory "global.vtcm"' in done.err
    rule = '[[models.m0.place]]\nscope = "global.vtcm"\npools = ["tcm"]\n'
    project(tmp_path, model, pools=pools)
    with (tmp_path / "usmp.toml").open("a", encoding="utf-8") as manifest:
        manifest.write(rule)
    done = usmp_build(tmp_path, "selftest")
    assert done.code == 0, done.err
    assert done.out == "m0: 1 tensors, 10 runs, all equal to those of TVM's virtual machine\n"
    buffers = {buffer["name"]: buffer["pool"] for buffer in plan_of(tmp_path)["buffers"]}
    assert {name for name, pool in buffers.items() if pool == "tcm"} >= {"m0.lv1", "m0.x_global_vtcm"}


@needs_tvm
@pytest.mark.drawn("model")
@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("varying", "axis 0 of input x varies, as n does"),
        (
            "widened",
            'ConstantOfShape makes the constant "big" of float32[400000000], 1,600,000,000 bytes; all that are',
        ),
        ("broadened", "relax.broadcast_to makes the constant"),
        pytest.param("dangling", "input 'nobody' of node", marks=pytest.mark.long),
        pytest.param("unranked", "input x has no shape", marks=pytest.mark.long),
        pytest.param("outside", "the data of w are in another file", marks=pytest.mark.long),
        pytest.param("unsupported", "NoSuchOperator", marks=pytest.mark.long),
        pytest.param("regions", "function roi_align: how often a loop runs depends on data", marks=pytest.mark.long),
        pytest.param("sorting", "it calls tvm.contrib.sort.topk of TVM's run time", marks=pytest.mark.long),
    ],
)
def test_what_it_refuses(tmp_path: Path, model: str, message: str) -> None:
    project(tmp_path, *write_models(tmp_path, model))
    done = usmp_build(tmp_path, "generate", "--out", "out")
    assert (done.code, (tmp_path / "out").exists()) == (1, False)
    assert "error[T258]: TVM makes no program of it: " in done.err
    assert message in done.err


@needs_tvm
def test_operators_in_a_row_are_no_deeper_expression_than_compilers_take(tmp_path: Path) -> None:
    project(tmp_path, *write_models(tmp_path, "deep"))
    done = usmp_build(tmp_path, "selftest", "--cc", "clang" if shutil.which("clang") else "cc")
    assert done.code == 0, done.err
    assert done.out == "m0: 1 tensors, 10 runs, all equal to those of TVM's virtual machine\n"


@needs_tvm
@pytest.mark.long
def test_a_model_too_large_for_a_program_is_refused_by_name(tmp_path: Path) -> None:
    [model] = write_models(tmp_path, "endless")
    project(tmp_path, model)
    done = usmp_build(tmp_path, "plan")
    assert done.code == 1
    message = "the program that TVM makes of it is too large: statements are nested over 200 deep"
    assert f"endless.onnx: error[T270]: {message}\n" in done.err


@needs_tvm
@pytest.mark.parametrize("name", ["damaged.onnx", pytest.param("damaged.relax.json", marks=pytest.mark.long)])
def test_damaged_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b'{"root_index": 7, "nodes": []}')
    project(tmp_path, tmp_path / name)
    done = usmp_build(tmp_path, "plan")
    assert done.code == 1
    assert "error[T258]" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("refusal", ["InternalError: std::bad_alloc", "MemoryError: Unable to allocate 1.49 GiB"])
def test_a_lack_of_memory_is_reported_for_the_model(monkeypatch: pytest.MonkeyPatch, refusal: str) -> None:
    monkeypatch.setattr(process, "require_tvm", lambda *_: None)
    monkeypatch.setattr(process, "_answer", lambda *_: {"refusal": refusal, "help": ""})
    with pytest.raises(
        ModelError, match=r"TVM makes no program of it: that takes more than 805,306,496 bytes of memory"
    ):
        process.import_onnx(b"\0\0", "m", "m.onnx")


@pytest.mark.parametrize(
    ("there", "message"),
    [(None, "apache-tvm is not installed"), ("0.26.1", "apache-tvm 0.26.1 is installed, but only 0.27 is supported")],
)
def test_without_tvm_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str | None, message: str
) -> None:
    def version(package: str) -> str:
        if there is None:
            raise PackageNotFoundError(package)
        return there

    monkeypatch.setattr("usmp_build.importers.tvm.process.version", version)
    (tmp_path / "net.onnx").write_bytes(b"")
    project(tmp_path, tmp_path / "net.onnx")
    says(call("plan", tmp_path / "usmp.toml"), 1, f"error[T259]: {message}", "help: pip install 'usmp_build[tvm]'")
