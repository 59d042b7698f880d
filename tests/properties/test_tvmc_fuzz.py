"""Command lines that nobody would write: an error that can be read, or a manifest that loads."""

import os
import shlex

from hypothesis import given, settings
from hypothesis import strategies as st

from usmp_build.errors import UsageError
from usmp_build.manifest import Overrides, load, resolve
from usmp_build.manifest.starter import StarterModel, fitting_names, starter
from usmp_build.manifest.tvmc import memory, read_command
from usmp_build.manifest.tvmc.pools import FLAGS, POOLS

ROUNDS = int(os.environ.get("USMP_FUZZ", "300"))
HOSTILE = [
    '"',
    "'",
    "\n",
    "]\n[plan]\nalgorithm = 1\n#",
    "a:b:c",
    "日本",
    "\x00",
    "\udc80",
    "\u202e",
    "-",
    "#",
    "{x}",
    "\\",
]
NAMES = ["a", "sram", "SRAM", "int", "usmp_x", "constants", "workspace", "cpu", "flash", "n" * 99, "a__b", *HOSTILE]
TARGETS = ["c", "llvm", "ethos-u", "cmsis-nn", "cpu", "Cpu", *HOSTILE]
NUMBERS = ["0", "1", "-1", "64", "-2", "1e3", "", "²", "٣", "9" * 20, "9" * 5000, "281474976710655"]


@st.composite
def pool_flags(draw: st.DrawFn) -> list[str]:
    """Flags of pools that are mostly right."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4))
    reach = draw(st.lists(st.sampled_from(TARGETS), min_size=1, max_size=3))
    words = [f"{POOLS}={','.join(names)}", *(f"{POOLS}-targets={name}:{','.join(reach)}" for name in names)]
    for _ in range(draw(st.integers(0, 4))):
        value = draw(st.sampled_from([*NUMBERS, *(f"{target}:{number}" for target in reach for number in NUMBERS[:3])]))
        words.append(f"{draw(st.sampled_from(sorted(FLAGS)))}={draw(st.sampled_from(names))}:{value}")
    return words


@st.composite
def other_flags(draw: st.DrawFn) -> list[str]:
    flags = ["--target", "--pass-config", "--module-name", "-o", "--x", "--executor-aot-workspace-byte-alignment"]
    values = [*TARGETS, *NUMBERS, *HOSTILE, "tir.usmp.algorithm=hill_climb", "tir.x=\n", "16", "m.tflite"]
    pairs = draw(st.lists(st.tuples(st.sampled_from(flags), st.sampled_from(values) | st.text(max_size=8)), max_size=3))
    return [
        word for flag, value in pairs for word in draw(st.sampled_from([[f"{flag}={value}"], [flag, value], [value]]))
    ]


@given(pool_flags() | st.just([]), other_flags())
@settings(max_examples=ROUNDS, derandomize=True)
def test_a_manifest_that_loads_or_an_error(pools: list[str], others: list[str]) -> None:
    accept(shlex.join([*pools, *others]))


@given(st.text(max_size=60))
@settings(max_examples=ROUNDS, derandomize=True)
def test_any_text(text: str) -> None:
    accept(text)


def accept(line: str) -> None:
    try:
        command = read_command(line)
    except UsageError as error:
        (diagnostic,) = error.diagnostics
        assert diagnostic.help
        assert len(str(diagnostic)) < 3000
        return
    names = fitting_names([command.module, *command.models], ["p"])
    models = [StarterModel(name, path) for name, path in zip(names[1:], command.models, strict=True)]
    text = starter(models, "p", memory(command, "p"))
    request = resolve(load(text.encode(), "usmp.toml"), Overrides(paths={names[0]: "m.tflite"}))
    assert len(request.models) == len(models) + 1
    assert request.algorithm == command.algorithm
    assert [pool.limit for pool in request.pools[: len(command.pools)]] == [
        pool.words.get("size") for pool in command.pools
    ]
