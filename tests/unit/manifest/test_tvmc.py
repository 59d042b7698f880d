"""Command lines of TVMC as manifests: TVM's own rows, everything else that such a line may hold, and what is wrong."""

import re
from typing import Any

import pytest
import tomli

from tests.support.shared_cases import usmp_rows
from usmp_build.errors import UsageError
from usmp_build.manifest import Overrides, load, resolve
from usmp_build.manifest.starter import starter
from usmp_build.manifest.tvmc import memory, read_command
from usmp_build.request import Access, InputOutput, Isa, PoolRequest, Request


def text_of(flags: str) -> str:
    return starter([], "p", memory(read_command(flags), "p"))


def request_of(flags: str) -> Request:
    manifest = load(text_of(flags).encode(), "usmp.toml")
    return resolve(manifest, Overrides(paths={"m": "m.tflite"}))


def workspace(request: Request) -> list[PoolRequest]:
    return [pool for pool in request.pools if pool.access is Access.WORKSPACE]


def message_for(pool: PoolRequest) -> dict[str, object]:
    """What a pool is, under TVM's names and with TVM's defaults."""
    speed = pool.speed
    return {
        "pool_name": pool.name,
        "size_hint_bytes": -1 if pool.limit is None else pool.limit,
        "clock_frequency_hz": (speed and speed.clock) or -1,
        "read_bandwidth_bytes_per_cycle": (speed and speed.read_bandwidth) or -1,
        "write_bandwidth_bytes_per_cycle": (speed and speed.write_bandwidth) or -1,
        "read_latency_cycles": (speed and speed.read_latency) or 0,
        "write_latency_cycles": (speed and speed.write_latency) or 0,
    }


@pytest.mark.parametrize("row", usmp_rows("tvmc_flags", "rows"))
def test_tvms_own_rows(row: dict[str, Any]) -> None:
    targets = [*(target.split()[0] for target in row.get("extra_targets", [])), *row["targets"]]
    flags = " ".join([f'--target="{",".join(targets)}"' if targets else "", *row["args"]])
    if "error" in row:
        with pytest.raises(UsageError, match="has no targets"):
            request_of(flags)
        return
    pools = workspace(request_of(flags))
    for flag in row.get("unparsed", []):
        assert f"# - Not taken over: {flag}; " in text_of(flags)
    if not row.get("pools"):
        assert [pool.name for pool in pools] == ["workspace"]
        return
    for pool, wanted in zip(pools, row["pools"], strict=True):
        numbers = {key: value for key, value in wanted.items() if key not in ("targets", "target_burst_bytes")}
        assert message_for(pool).items() >= numbers.items()
        assert pool.readers == pool.writers == {0}  # "c" and "llvm" are both the processor
        if "target_burst_bytes" in wanted:
            bursts = pool.speed.bursts if pool.speed else {}
            assert list(bursts.items()) == [(0, size) for size in wanted["target_burst_bytes"].values()][-1:]


def test_a_burst_that_is_not_the_last_of_a_processor_is_remarked() -> None:
    text = text_of(
        "--workspace-pools=a --workspace-pools-targets=a:c,llvm --workspace-pools-target-burst-bytes=a:c:8 "
        "--workspace-pools-target-burst-bytes=a:llvm:4"
    )
    assert '# c is "cpu", too; TVM has 8 bytes for it.\ntarget_burst_bytes = { cpu = 4 }\n' in text


COMMAND = """
python3 -m tvm.driver.tvmc compile --target="ethos-u -accelerator_config=ethos-u55-256, cmsis-nn, c -mattr=+a,+b" \\
  --target-c-mcpu=cortex-m55 --runtime=crt --executor aot --executor-aot-interface-api=c -v -O3 \\
  --executor-aot-workspace-byte-alignment=32 --executor-aot-constant-byte-alignment=64 \\
  --pass-config tir.usmp.enable=1 --pass-config tir.usmp.algorithm=hill_climb \\
  --pass-config=tir.usmp.use_workspace_io=1 --pass-config tir.disable_vectorize=1 \\
  --workspace-pools=dtcm,sram --workspace-pools-targets=dtcm:c --workspace-pools-targets=sram:c,ethos-u \\
  --workspace-pools-target-burst-bytes=sram:ethos-u:16 --module-name=spotter -f mlf -o out.tar models/kws.tflite && ls
"""


def test_a_whole_command_line() -> None:
    command = read_command(COMMAND)
    assert (command.models, command.module) == (("models/kws.tflite",), "spotter")
    assert (command.io, command.algorithm) == ("pool", "hill_climb")
    request = request_of(COMMAND)
    assert [target.name for target in request.targets] == ["cpu", "ethos_u"]
    assert [target.kernels for target in request.targets] == ["cmsis-nn", "extern"]
    assert request.targets[0].isa is Isa.MVE
    dtcm, sram, constants = request.pools
    assert (dtcm.alignment, dtcm.readers) == (32, {0})
    assert (sram.alignment, sram.readers) == (32, {0, 1})
    assert sram.speed
    assert sram.speed.bursts == {1: 16}
    assert (constants.access, constants.alignment) == (Access.CONSTANT, 64)
    assert constants.section == ".rodata.usmp.p.constants"
    assert request.algorithm == "hill_climb"
    text = text_of(COMMAND)
    assert "--target-c-mcpu" not in text
    assert "kws_" not in text  # it has no such model
    for flag in ("--runtime=crt", "--executor=aot", "-O=3", "-f=mlf", "-o=out.tar", "-v"):
        assert re.search(f"^# .* {re.escape(flag)}[,;]", text, re.MULTILINE), flag
    assert 'target "ethos-u" is called "ethos_u"' in text
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize(
    ("flags", "isa"),
    [
        ("--target='c -mcpu=cortex-m55'", Isa.MVE),
        ("--target='cmsis-nn -mcpu=\"cortex-m4\", c'", Isa.DSP),
        ("--target='ethos-u -mcpu=cortex-m55, c'", Isa.PORTABLE),
        ('--target=\'{"kind": "c", "mcpu": "cortex-m33"}\'', Isa.DSP),
        ("--target=c,cmsis-nn --target-cmsis-nn-mcpu cortex-m85", Isa.MVE),
        ("--target=c --target-c-march=armv8.1-m.main+mve", Isa.MVE),
        ("--target=c --target-c-mcpu=cortex-m0plus", Isa.SCALAR),
        ("--target=c --target-c-mcpu=cortex-a7", Isa.PORTABLE),
        ("--target='llvm -mcpu=skylake'", Isa.PORTABLE),
    ],
)
def test_the_processor_of_targets_is_its_instructions(flags: str, isa: Isa) -> None:
    assert request_of(flags).targets[0].isa is isa
    assert (f'isa = "{isa.value}"' in text_of(flags)) == (isa is not Isa.PORTABLE)
    assert ("Not taken over: --target-" in text_of(flags)) == ("cortex-a7" in flags)


def test_kernels_of_cmsis_nn_are_those_of_the_processor() -> None:
    flags = "--workspace-pools=a,b,n --workspace-pools-targets=a:c --workspace-pools-targets=b:cmsis-nn,c "
    text = text_of(f"--target=cmsis-nn,c,npu {flags}--workspace-pools-targets=n:npu")
    assert tomli.loads(text)["targets"] == {"cpu": {"kernels": "cmsis-nn"}, "npu": {"kernels": "extern"}}
    assert '"cpu" reaches the pools of both (a).' in text


RFC_U3 = """tvmc compile my_model.tflite --executor=aot --target=accel,c
    --usmp-workspace-pools=dtcm,sram
    --usmp-parameter-pools=itcm,flash
    --usmp-workspace-pool-dtcm= "target=c;size=1000"
    --usmp-workspace-pool-sram= "target=c:rw,accel:ro"
    --usmp-parameter-pool-itcm= "target=c;size=5000"
    --usmp-parameter-pool-flash="target=c,accel"
"""


def test_flags_of_the_rfc_are_taken_over() -> None:
    """The use case U3 of the RFC, as it stands there."""
    assert read_command(RFC_U3).models == ("my_model.tflite",)
    text = text_of(RFC_U3)
    pools = tomli.loads(text)["pools"]
    assert pools == {
        "dtcm": {"access": "rw", "size": 1000, "targets": ["cpu"]},
        "sram": {"access": "rw", "targets": {"cpu": "rw", "accel": "ro"}},
        "itcm": {"access": "ro", "size": 5000, "targets": ["cpu"]},
        "flash": {"access": "ro"},
    }
    assert "--usmp" not in text
    assert [pool.access for pool in request_of(RFC_U3).pools] == [Access.WORKSPACE] * 2 + [Access.CONSTANT] * 2
    one = text_of("--usmp-constant-pools=flash --usmp-constant-pool-flash=target=c")
    assert tomli.loads(one)["pools"] == {"flash": {"access": "ro"}}


def test_pools_that_the_processor_does_not_reach_are_remarked() -> None:
    assert 'let "cpu" reach one' in text_of("--workspace-pools=a --workspace-pools-targets=a:hexagon")
    assert 'let "cpu" reach one' not in text_of("--workspace-pools=a --workspace-pools-targets=a:hexagon,llvm")


def test_every_way_to_write_it_is_the_same() -> None:
    plain = "--workspace-pools=a --workspace-pools-targets=a:c"
    for other in (
        "tvmc compile " + plain,
        "/usr/bin/tvmc compile " + plain,
        plain.replace("=", " "),
        plain.replace("=", "='").replace(" ", "' ") + "'",
        plain + " || echo failed",
    ):
        assert text_of(other) == text_of(plain)


def test_inputs_and_outputs_are_where_tvm_has_them() -> None:
    assert read_command("m.tflite").io == InputOutput.APPLICATION.value
    assert read_command("--pass-config tir.usmp.use_workspace_io=True m.tflite").io == InputOutput.POOL.value


def test_all_that_is_suggested_is_valid() -> None:
    text = re.sub(r"^#(?=[\[a-z\"])", "", text_of(COMMAND.replace("dtcm", "flash")), flags=re.MULTILINE)
    request = resolve(load(text.encode(), "usmp.toml"))
    assert [pool.owner.value for pool in request.pools[:2]] == ["application", "application"]


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        ("--workspace-pools='a", "U225", "not a command line: no closing quotation"),
        ("tvmc run --device cpu out.tar", "U225", "`tvmc run` has no flags for memory"),
        ("x " * 9999, "U225", "longer than 16,384 characters"),
        ("--workspace-pools", "U225", '"--workspace-pools" of TVMC has no value'),
        ("--workspace-pool-sizes=a:1 'a\nb'", "U225", "is neither a flag nor a file"),
        ("--workspace-pools-size=a:1", "U225", 'TVMC has no flag "--workspace-pools-size"'),
        ("--workspace-pools=a,,b", "U226", "a pool without a name"),
        ("--usmp-workspace-pools=a,", "U226", "a pool without a name"),
        ("--usmp-workspace-pools=a", "U226", 'does not say which targets reach pool "a"'),
        ("--usmp-workspace-pools=a --usmp-workspace-pool-a=target=c;size=", "U226", "does not say which targets"),
        ("--usmp-workspace-pools=a --usmp-workspace-pool-a=target=c;speed=9", "U226", "does not say which targets"),
        ("--usmp-workspace-pools=a --usmp-workspace-pool-a=target=c:wo", "U226", "neither reads and writes, nor reads"),
        ("--usmp-workspace-pools=a --usmp-workspace-pool-a=target=", "U226", "does not say which targets"),
        ("--usmp-workspace-pools=a '--usmp-workspace-pool-a=target=c;size=many'", "U228", "no valid number"),
        ("--target=c --usmp-workspace-pools=a --usmp-workspace-pool-a=target=npu", "U227", "--target does not name"),
        ("--usmp-workspace-pool-a=target=c", "U226", 'pool "a", which --usmp-workspace-pools does not name'),
        ("--usmp-pools=a", "U225", 'USMP\'s RFC has no flag "--usmp-pools"'),
        (
            "--usmp-workspace-pools=a --usmp-workspace-pool-a=target=c "
            "--usmp-parameter-pools=a --usmp-parameter-pool-a=target=c",
            "U226",
            'two flags name a pool "a"',
        ),
        ("--workspace-pools=a", "U226", 'pool "a" of --workspace-pools has no targets'),
        ("--workspace-pools-targets=a:c", "U226", 'names pool "a", which --workspace-pools does not name'),
        ("--workspace-pools=sram --workspace-pools-targets=srma:c", "U226", 'did you mean "sram"'),
        ("--workspace-pools=a --workspace-pools-targets=a", "U226", "gives no pool a value"),
        ("--workspace-pools=a --workspace-pools-targets=a:,", "U227", "names no target"),
        ("--target=c --workspace-pools=a --workspace-pools-targets=a:llvm", "U227", "--target does not name"),
        ("--target=,", "U227", "names no target"),
        ("--target='{'", "U227", "names no target"),
        (
            "--workspace-pools=a --workspace-pools-targets=a:c --workspace-pools-target-burst-bytes=a:npu:1",
            "U227",
            'target "npu", which does not reach pool "a"',
        ),
        ("--workspace-pools=a --workspace-pools-size-hint-bytes=a:64K", "U228", "has no valid number"),
        ("--workspace-pools=a --workspace-pools-size-hint-bytes=a:0", "U228", "whole number from 1"),
        (f"--workspace-pools=a --workspace-pools-clock-frequency-hz=a:{'9' * 9999}", "U228", "has no valid number"),
        ("--executor-aot-workspace-byte-alignment=12", "U228", "is not an alignment"),
        ("--pass-config tir.usmp.use_workspace_io=yes", "U229", "tir.usmp.use_workspace_io=1 or"),
        ("--pass-config tir.usmp.algorithm=hil_climb", "U229", 'did you mean "hill_climb"'),
    ],
)
def test_faults_are_reported(flags: str, code: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_command(flags)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert message in str(diagnostic)
    assert diagnostic.help
    assert len(str(diagnostic)) < 1000
