"""`export tflm`: plans in .tflite files that TensorFlow Lite Micro reads, never larger than its own."""

from pathlib import Path

import pytest
import tflite

from tests.support import flatbuffer as fb
from tests.support.cli import DATA, call, succeed
from tests.support.processes import output
from tests.support.tflm_headers import write_headers
from tests.support.tools import few, need
from usmp_build.cli import export, tflm_measure
from usmp_build.importers.tflite import import_tflite
from usmp_build.importers.tflite.offline import stored_offsets
from usmp_build.importers.tflite.reader import decoded
from usmp_build.selftest.inputs import samples
from usmp_build.tflm.lifetimes import demand
from usmp_build.tflm.metadata import with_offsets
from usmp_build.tflm.planned import plan

MEASURED = pytest.mark.skipif(not tflm_measure.is_installed(), reason="tflite-micro is not installed")
SMALLER = {"kitchen_a": (1360, 1072), "kitchen_b": (1360, 1152), "lstm_unrolled": (160, 144)}


def compiled(folder: Path, main: str) -> None:
    """Compile a main that includes what was written, with strict warnings, and run it."""
    need("g++")
    (folder / "main.cc").write_text(main)
    strict = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{folder}"]
    output(["g++", *strict, folder / "main.cc", "-o", folder / "app"])
    output([folder / "app"])


def heads(out: str) -> dict[str, tuple[int, int]]:
    """The heads before and after, by model, in the table that is printed."""
    rows = [line.replace(",", "").split() for line in out.split("\n(")[0].splitlines()[1:]]
    return {row[0]: (int(row[1]), int(row[2])) for row in rows}


@MEASURED
@pytest.mark.long
def test_heads_are_smaller_and_outputs_equal(tmp_path: Path) -> None:
    done = succeed("export", "tflm", *(DATA / f"{name}.tflite" for name in (*SMALLER, "branchy")), "--out", tmp_path)
    assert heads(done.out) == SMALLER | {"branchy": (5760, 5760)}
    assert "outputs of 4 runs equal" in done.out
    for name in SMALLER:
        before, after = (DATA / f"{name}.tflite").read_bytes(), (tmp_path / f"{name}.tflite").read_bytes()
        assert after.endswith(before)
        assert import_tflite(after, "m", "m") == import_tflite(before, "m", "m")
    assert (tmp_path / "branchy.tflite").read_bytes() == (DATA / "branchy.tflite").read_bytes()


@pytest.mark.slow
@MEASURED
@pytest.mark.parametrize("name", few(["kitchen_a", "control", "stateful", "float_net"], 1))
def test_heads_are_computed_as_tensorflow_lite_micro_computes_them(name: str) -> None:
    """With our offsets and without, with subgraphs and variables; the kernels of these models ask for no scratch."""
    data = (DATA / f"{name}.tflite").read_bytes()
    model = import_tflite(data, "m", "m")
    offer = plan(demand(model, {}), {})
    inputs, outputs = samples(model, 1, 1), len(model.main.outputs)
    planned = with_offsets(data, len(model.subgraphs), offer.offsets)
    assert tflm_measure.measure(data, inputs, outputs).head == offer.before
    assert tflm_measure.measure(planned, inputs, outputs).head == offer.head


@pytest.mark.slow
@MEASURED
def test_real_models(real_models: Path, tmp_path: Path) -> None:
    scrambled = real_models / "more" / "keyword_scrambled_8bit.tflite"
    models = [real_models / "vww.tflite", real_models / "kws.tflite", *filter(Path.is_file, [scrambled])]
    measured = heads(call("export", "tflm", *models, "--out", tmp_path).out)
    assert measured["vww"] == (73728, 55296)
    assert measured["kws"] == (16000, 16000)
    assert measured.get(scrambled.stem, (672, 672)) == (672, 672)


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "is_installed", lambda: False)


@pytest.mark.usefixtures("unmeasured")
def test_without_tflite_micro_it_says_so(tmp_path: Path) -> None:
    done = call("export", "tflm", DATA / "kitchen_a.tflite", "--out", tmp_path)
    assert heads(done.out) == {"kitchen_a": (1360, 1072)}
    assert "not measured" in done.out
    assert "arena_bytes" not in (tmp_path / "tflm_memory.h").read_text()


@pytest.mark.usefixtures("unmeasured")
def test_reserves_are_kept_free(tmp_path: Path) -> None:
    done = call("export", "tflm", DATA / "kitchen_a.tflite", "--reserve", "CONV_2D=512", "--out", tmp_path)
    assert heads(done.out) == {"kitchen_a": (1440, 1408)}
    done = call("export", "tflm", DATA / "kitchen_a.tflite", "--reserve", "CONV=512", "--out", tmp_path / "no")
    assert (done.code, (tmp_path / "no").exists()) == (2, False)
    assert "error[U268]" in done.err
    assert "CONV_2D" in done.err


@pytest.mark.usefixtures("unmeasured")
def test_metadata_of_others_stay_and_an_older_plan_goes(tmp_path: Path) -> None:
    data = (DATA / "kitchen_a.tflite").read_bytes()
    model = import_tflite(data, "m", "m")
    sizes = demand(model, {}).buffers
    apart, end = [-1] * demand(model, {}).tensors, 0
    for tensor, buffer in sizes.items():
        apart[tensor], end = end, end + buffer.size
    (tmp_path / "m.tflite").write_bytes(with_offsets(data, 1, apart))
    done = call("export", "tflm", tmp_path / "m.tflite", "--out", tmp_path / "out")
    assert heads(done.out) == {"m": (end, 1072)}
    written = (tmp_path / "out" / "m.tflite").read_bytes()
    assert stored_offsets(decoded(written)) == plan(demand(model, {}), {}).offsets
    assert written.count(b"OfflineMemoryAllocation") == 2  # the older one is there, and nothing refers to it
    (tmp_path / "m.tflite").write_bytes(written)
    done = call("export", "tflm", tmp_path / "m.tflite", "--out", tmp_path / "out")
    assert "own plan is as good" in done.out
    assert (tmp_path / "out" / "m.tflite").read_bytes() == written


def test_other_metadata_are_kept() -> None:
    """Read by accessors that are not ours."""
    entry = fb.Node("Metadata", Name="min_runtime_version", Buffer=1)
    data = fb.write(fb.identity(data=[b"1.5.0"], Metadata=[entry], Description="made by hand"))
    root = tflite.Model.GetRootAs(with_offsets(data, 1, [0, 16]))
    assert root.Description() == b"made by hand"
    entries = [root.Metadata(i) for i in range(root.MetadataLength())]
    assert [each.Name() for each in entries] == [b"min_runtime_version", b"OfflineMemoryAllocation"]
    texts = [root.Buffers(each.Buffer()).DataAsNumpy() for each in entries]
    assert texts[0].tobytes() == b"1.5.0"
    assert texts[1].view("<i4").tolist() == [1, 1, 2, 0, 16]


@pytest.mark.usefixtures("unmeasured")
def test_what_only_a_kernel_knows_stays_as_it_is(tmp_path: Path) -> None:
    tensors, names = [fb.tensor(name) for name in "xabc"], ["a*/ b\\", "a b", "ethos-u"]
    operators = [fb.operator(f"CUSTOM:{name}", [at], [at + 1]) for at, name in enumerate(names)]
    data = fb.write(fb.model(fb.subgraph(tensors, operators, [0], [3])))
    (tmp_path / "m.tflite").write_bytes(data)
    done = call("export", "tflm", tmp_path / "m.tflite", "--out", tmp_path / "out")
    assert "only the kernel of CUSTOM:" in done.out, done.err
    assert (tmp_path / "out" / "m.tflite").read_bytes() == data
    write_headers(tmp_path / "out", "AddEthosU")
    main = '#include "tflm_resolver.h"\n'
    for function in ("Register_a_b", "Register_a_b_2"):
        main += f"const TFLMRegistration* {function}() {{ return nullptr; }}\n"
    main += "int main() { tflm_models::OpResolver all; return tflm_models::AddOperators(all) || all.used != 3; }\n"
    compiled(tmp_path / "out", main)


@pytest.mark.usefixtures("unmeasured")
def test_folders_are_written_again_but_not_over_files_of_others(tmp_path: Path) -> None:
    model, out = tmp_path / "m.tflite", tmp_path / "out"
    model.write_bytes((DATA / "kitchen_a.tflite").read_bytes())
    assert call("export", "tflm", model, "--out", out).code == 0
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    assert sorted(first) == ["m.tflite", "tflm_memory.h", "tflm_models.cc", "tflm_resolver.h"]
    assert call("export", "tflm", model, "--out", out).code == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first
    model.write_bytes((DATA / "digits.tflite").read_bytes())
    assert call("export", "tflm", model, "--out", out).code == 0
    assert (out / "m.tflite").read_bytes() == model.read_bytes()
    model.write_bytes((DATA / "kitchen_a.tflite").read_bytes())
    done = call("export", "tflm", model, "--out", tmp_path)
    assert "error[U242]" in done.err
    assert model.read_bytes() == (DATA / "kitchen_a.tflite").read_bytes()
    assert not (tmp_path / "tflm_memory.h").exists()


@pytest.mark.usefixtures("unmeasured")
def test_other_models_are_refused(tmp_path: Path) -> None:
    text = call("inspect", "model", DATA / "kitchen_a.tflite").out
    (tmp_path / "m.model.txt").write_text(text)
    done = call("export", "tflm", tmp_path / "m.model.txt", "--out", tmp_path / "out")
    assert (done.code, (tmp_path / "out").exists()) == (1, False)
    assert "error[T215]" in done.err


@pytest.mark.usefixtures("unmeasured")
def test_the_sources_compile(tmp_path: Path) -> None:
    """With stand-ins for headers of TensorFlow Lite Micro, whose resolver has exactly the methods that are needed."""
    models = [DATA / f"{name}.tflite" for name in ("kitchen_a", "stateful")]
    assert call("export", "tflm", *models, "--out", tmp_path).code == 0
    names = "AddAdd AddAssignVariable AddAveragePool2D AddCallOnce AddConcatenation AddConv2D AddDepthwiseConv2D"
    names += " AddFullyConnected AddMaxPool2D AddMul AddPad AddReadVariable AddRelu AddReshape AddSub AddVarHandle"
    write_headers(tmp_path, *names.split())
    main = """#include "tflm_models.cc"
const unsigned char kitchen_a_tflite[1] = {0}, stateful_tflite[1] = {0};
int main() { return SetUpModels() != kTfLiteOk || resolver.used != resolver.capacity || resolver.used != COUNT; }
"""
    compiled(tmp_path, main.replace("COUNT", str(len(names.split()))))
