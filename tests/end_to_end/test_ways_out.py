"""What does not fit: the message, and that each way out it offers is one."""

import re
from pathlib import Path

import pytest

from tests.support.cli import call, manifest, one_model
from tests.support.net import Net
from tests.support.nets import NETS
from tests.support.tools import few

POOLS = '[pools.{}]\naccess = "{}"\nsize = {}\n'


def chain(folder: Path, name: str, *sizes: int) -> None:
    """Write a model whose tensors have these sizes in bytes, each computed from the one before it."""
    tensors = [f'  %{i} "t{i}" int8[{size}]' for i, size in enumerate(sizes)]
    steps = [f"  %{i + 1} = CUSTOM(%{i})" for i in range(len(sizes) - 1)]
    lines = [f'model "{name}"', 'subgraph 0 "main"', *tensors, "  inputs %0", f"  outputs %{len(sizes) - 1}", *steps]
    (folder / f"{name}.model.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def firmware(folder: Path, text: str) -> Path:
    return manifest(folder, f'[project]\nname = "p"\n{text}')


def refused(path: Path) -> list[str]:
    """The message, without the lines of the manifest."""
    done = call("plan", path)
    assert done.code == 3
    assert "Traceback" not in done.err
    return [
        line.partition("usmp.toml:")[2] or line for line in done.err.splitlines() if not re.match(r" +\d* \|", line)
    ]


MODEL = '[models.{0}]\npath = "{0}.model.txt"\n{1}\n'
OTHER = MODEL.format("z", 'workspace_pools = ["slow"]')
"""A small model that uses the pool that others do not."""


SWITCHED_OFF = """
[pools.a]
access = "rw"
size = {size}
[pools.f]
access = "ro"
[models.c]
path = "c.tflite"
{model}
[plan]
{plan}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("size", "model", "plan", "way"),
    [
        (3_327, "", "overlap = false", "leave overlap = false out of [plan]"),
        (1_300, "", "rewrites = { constant_channels = false }", "write rewrites = { constant_channels = true }"),
        (1_300, "rewrites = { constant_channels = false }", "", "write rewrites = { constant_channels = true }"),
        (2_600, "", "rows = false", "leave rows = false out of [plan]: layers then run row by row"),
    ],
)
def test_what_was_switched_off_may_be_switched_on(tmp_path: Path, size: int, model: str, plan: str, way: str) -> None:
    (tmp_path / "c.tflite").write_bytes(NETS["dead_channels"]())
    message = refused(firmware(tmp_path, SWITCHED_OFF.format(size=size, model=model, plan=plan)))
    assert any(line.startswith(f"  - {way}") for line in message), message
    on = {
        "overlap": ("", ""),
        "constant_channels": ("rewrites = { constant_channels = true }", plan),
        "rows": ("", ""),
    }
    words = next(keys for key, keys in on.items() if key in way)
    path = firmware(tmp_path, SWITCHED_OFF.format(size=size, model=words[0], plan=words[1]))
    assert call("plan", path).code == 0


def test_an_input_that_is_larger_than_the_pool_is_proof_enough(tmp_path: Path) -> None:
    """It is in one piece, whether layers run row by row or not."""
    net = Net(3)
    small = net.conv(net.input(16, 16, 4), 4, (3, 3), stride=2)
    (tmp_path / "c.tflite").write_bytes(net.file(net.conv(small, 4, (3, 3), stride=2)))
    first, way, *_ = refused(firmware(tmp_path, SWITCHED_OFF.format(size=1000, model="", plan="")))
    assert first.endswith(
        'the buffers do not fit: pool "a" (1,000 bytes) is 24 bytes too small at step 0 "c: enter": c.t0 1,024'
    )
    assert way == "help: no plan needs less; each of these makes a plan:"


def test_the_message_counts_what_buffers_may_share(tmp_path: Path) -> None:
    (tmp_path / "c.tflite").write_bytes(NETS["dead_channels"]())
    message = refused(firmware(tmp_path, SWITCHED_OFF.format(size=2_609, model="", plan="rows = false")))
    assert message[0].endswith("c.t3 2,560 + c.t0 768; at most 718 bytes of these may be shared"), message


def test_a_larger_pool_another_pool_or_arrays_of_the_caller(tmp_path: Path) -> None:
    chain(tmp_path, "a", 500, 400, 100, 50)
    chain(tmp_path, "z", 1, 1)
    pools = POOLS.format("fast", "rw", 600) + POOLS.format("slow", "rw", 450) + OTHER
    words = 'workspace_pools = ["fast"]'
    assert refused(firmware(tmp_path, pools + MODEL.format("a", words))) == [
        '5:8: error[P502]: the buffers do not fit: pool "fast" (600 bytes) is 300 bytes too small'
        ' at step 1 "a: CUSTOM 0": a.t0 500 + a.t1 400',
        "help: no plan needs less; each of these makes a plan:",
        '  - enlarge "fast" by 300 bytes',
        '  - let model "a" use "slow" too (workspace_pools): a.t1 400 goes there',
        '  - write io = "application" for model "a": its caller brings 550 bytes',
    ]
    larger = pools.replace("600", "900")
    assert call("plan", firmware(tmp_path, larger + MODEL.format("a", words))).code == 0
    assert call("plan", firmware(tmp_path, pools + MODEL.format("a", 'workspace_pools = ["fast", "slow"]'))).code == 0
    assert call("plan", firmware(tmp_path, pools + MODEL.format("a", words + '\nio = "application"'))).code == 0


def test_inputs_that_are_kept_are_not_kept_in_arrays_of_the_caller(tmp_path: Path) -> None:
    chain(tmp_path, "a", 500, 400, 100, 50)
    chain(tmp_path, "z", 1, 1)
    pools = POOLS.format("fast", "rw", 600) + POOLS.format("slow", "rw", 450) + OTHER
    words = 'workspace_pools = ["fast"]\n'
    kept = 'inputs = "reserved"\noutputs = "reserved"'
    way_out = (
        '  - write io = "application" for model "a", and leave `inputs` and `outputs` out: its caller brings 550 bytes'
    )
    assert way_out in refused(firmware(tmp_path, pools + MODEL.format("a", words + kept)))
    assert call("plan", firmware(tmp_path, pools + MODEL.format("a", words + 'io = "application"'))).code == 0


def test_what_would_not_help_is_not_offered(tmp_path: Path) -> None:
    chain(tmp_path, "a", 50, 500, 400, 100)
    chain(tmp_path, "z", 1, 1)
    pools = POOLS.format("fast", "rw", 600) + POOLS.format("slow", "rw", 399) + OTHER
    (_, hint) = refused(firmware(tmp_path, pools + MODEL.format("a", 'workspace_pools = ["fast"]')))
    assert hint == 'help: no plan needs less; enlarge "fast" by 300 bytes'


def test_workspace_and_constants_are_two_messages(tmp_path: Path) -> None:
    pools = POOLS.format("ram", "rw", 700) + POOLS.format("flash", "ro", 1000) + POOLS.format("rom", "ro", 100_000)
    chain(tmp_path, "z", 1, 1)
    pools += MODEL.format("z", 'constant_pools = ["rom"]')
    digits = one_model("digits", 'constant_pools = ["flash"]').partition("\n")[2].partition("\n")[2]
    first, way, second, _, flash, rom = refused(firmware(tmp_path, pools + digits))
    assert re.match(r'5:8: error\[P502\]: .* pool "ram" .* at step \d+ "digits: ', first)
    assert re.fullmatch(r'help: no order of rows needs less; enlarge "ram" by \d+ bytes', way)
    assert re.match(r'8:8: error\[P502\]: .* pool "flash" \(1,000 bytes\) is [\d,]+ bytes too small', second)
    assert second.endswith(
        ": digits.shapes_1/convolution 3,456 + digits.digit_1/MatMul_2 640 + digits.mix_1/convolution 264"
        " + digits.edges_1/convolution 100 + digits.strokes_1/depthwise 100 + digits.mix_1/Relu.multiplier 96"
        " + 14 more 556"
    )
    assert flash.startswith('  - enlarge "flash" by ')
    assert re.fullmatch(r'  - let model "digits" use "rom" too \(constant_pools\): .* there', rom)


def test_models_that_share_a_pool(tmp_path: Path) -> None:
    """The pool has to grow for the larger one; the smaller one does not make it worse, for they take turns."""
    chain(tmp_path, "a", 300, 300)
    chain(tmp_path, "b", 300, 400)
    first, hint = refused(
        firmware(tmp_path, POOLS.format("ram", "rw", 500) + MODEL.format("a", "") + MODEL.format("b", ""))
    )
    assert first.endswith('is 200 bytes too small at step 4 "b: CUSTOM 0": b.t1 400 + b.t0 300')
    assert hint == 'help: no plan needs less; enlarge "ram" by 200 bytes'


def test_models_that_are_alive_together_may_take_turns(tmp_path: Path) -> None:
    """Pairs are tried one by one."""
    for name, size in (("a", 300), ("b", 200), ("c", 100)):
        chain(tmp_path, name, size, size)
    tables = "".join(MODEL.format(name, "") for name in "abc")
    text = f'concurrent = [["a", "b", "c"]]\n[project]\nname = "p"\n{POOLS.format("ram", "rw", 1000)}{tables}'
    first, _, *ways = refused(manifest(tmp_path, text))
    assert ' while "a", "b" and "c" run at the same time: ' in first
    turns = 'leave the pair "{}" and "{}" out of `concurrent`: they then take turns, and share memory'
    assert ways == [
        '  - enlarge "ram" by 200 bytes',
        f"  - {turns.format('a', 'b')}",
        f"  - {turns.format('a', 'c')}",
    ]
    for pairs in ('["a", "c"], ["b", "c"]', '["a", "b"], ["b", "c"]'):
        assert call("plan", manifest(tmp_path, text.replace('["a", "b", "c"]', pairs))).code == 0


def test_io_of_a_model_whose_input_is_an_output_is_offered(tmp_path: Path) -> None:
    """The input is then copied to the caller's array for the output."""
    chain(tmp_path, "a", 500, 400)
    path = tmp_path / "a.model.txt"
    path.write_text(path.read_text(encoding="utf-8").replace("outputs %1", "outputs %0, %1"), encoding="utf-8")
    text = POOLS.format("ram", "rw", 600) + MODEL.format("a", "")
    message = "".join(refused(firmware(tmp_path, text)))
    assert 'write io = "application" for model "a": its caller brings 900 bytes' in message
    offered = POOLS.format("ram", "rw", 600) + MODEL.format("a", 'io = "application"')
    assert call("plan", firmware(tmp_path, offered)).code == 0


def test_io_of_a_model_that_must_have_it_in_a_pool_is_not_offered(tmp_path: Path) -> None:
    """Its output is the input of another one."""
    for name in "ab":
        chain(tmp_path, name, 500, 500)
    edge = '[[connections]]\nfrom = "a.t1"\nto = "b.t0"\n'
    models = MODEL.format("a", "") + MODEL.format("b", "")
    hints = refused(firmware(tmp_path, POOLS.format("ram", "rw", 600) + models + edge))
    assert "application" not in "".join(hints)


@pytest.mark.slow
@pytest.mark.drawn("algorithm")
@pytest.mark.parametrize("algorithm", few(["auto", "hill_climb", "greedy_by_size"], 1))
def test_explaining_is_the_same_every_time(tmp_path: Path, algorithm: str) -> None:
    tables = f'[pools.a]\naccess = "rw"\nsize = 700\n[plan]\nalgorithm = "{algorithm}"\n'
    path = manifest(tmp_path, one_model("digits", tables))
    assert refused(path) == refused(path)
