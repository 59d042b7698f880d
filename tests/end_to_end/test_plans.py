"""Plans of real models: their figures, what does not fit, and whom to believe."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.cli import TWO_MODELS, call, manifest, one_model, planned, says, tables
from tests.support.small_models import FORK
from tests.support.tools import few
from tests.support.tree import text_file
from usmp_build.planner import by_name
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.report import alternatives
from usmp_build.search import concat_aliasing
from usmp_build.search.operator_order import BestCandidate
from usmp_build.search.replanner import Replanner

DEAD = text_file("plans_dead.model.txt")
"""Nobody reads %2, which has no scale."""


@pytest.mark.parametrize(
    ("name", "workspace"), [("kws", 8_384), ("vww", 36_868), ("ic", 33_308), ("hello", 24), ("micro_speech", 4_161)]
)
def test_layer_by_layer_workspace_of_real_models_is_at_its_bound(
    real_models: Path, tmp_path: Path, name: str, workspace: int
) -> None:
    model = one_model(name, path=(real_models / f"{name}.tflite").as_posix())
    plan = planned(manifest(tmp_path, model + "[plan]\nrows = false\n"))
    pool = plan["pools"][0]
    assert (pool["size"], pool["bound"], plan["workspace"]["proven"]) == (workspace, workspace, "every order")
    assert plan["alternatives"]["models"][0]["workspace"] == workspace


@pytest.mark.long
def test_three_models_need_no_more_than_the_largest(real_models: Path, tmp_path: Path) -> None:
    models = "".join(f'[models.{n}]\npath = "{(real_models / n).as_posix()}.tflite"\n' for n in ("kws", "vww", "ic"))
    plan = planned(manifest(tmp_path, f'[project]\nname = "p"\n{models}'))
    assert [pool["size"] for pool in plan["pools"] if pool["access"] == "rw"] == [27_746]
    ic, kws, vww = (model["workspace"] for model in plan["alternatives"]["models"])
    assert ic <= 9_500
    assert kws <= 3_866
    assert vww == 27_746


def test_a_full_pool_overflows_into_the_next(tmp_path: Path) -> None:
    plan = planned(manifest(tmp_path, f"{TWO_MODELS}[plan]\nrows = false\n"))
    tcm, sram, flash = plan["pools"]
    assert 0 < tcm["size"] <= tcm["limit"] == 512
    assert sram["size"] > 0
    where = {
        buffer["pool"] for buffer in plan["buffers"] if buffer["model"] == "digits" and buffer["kind"] != "constant"
    }
    assert where == {"tcm", "sram"}
    only_sram = {b["pool"] for b in plan["buffers"] if b["model"] == "odd_even" and b["kind"] != "constant"}
    assert only_sram == {"sram"}
    assert flash["size"] == sum(-(-b["size"] // 4) * 4 for b in plan["buffers"] if b["kind"] == "constant")


@pytest.mark.slow
def test_sums_over_pools_may_be_more_than_max_live_and_say_so(tmp_path: Path) -> None:
    """One pool is fullest while the digits' model runs, the other one while the small model does."""
    pools = '[pools.a]\naccess = "rw"\n[pools.b]\naccess = "rw"\n'
    there = '[models.{0}]\npath = "DATA/{0}.tflite"\nworkspace_pools = ["{1}"]\n'
    models = there.format("digits", "a") + there.format("odd_even", "b")
    path = manifest(tmp_path, f'[project]\nname = "p"\n{pools}{models}')
    workspace = planned(path)["workspace"]
    assert workspace["with_overlap"] == workspace["achieved"] > workspace["any_schedule"]
    lines = call("plan", path).out.splitlines()
    assert any(
        "no plan of the chosen schedule, with the same buffers in each pool, needs less" in line for line in lines
    )
    assert any(line.startswith("(sums over pools, ") for line in lines)
    one = call("plan", manifest(tmp_path, one_model("digits"))).out
    assert "(sums over pools, " not in one


def test_a_model_that_only_rewrites_make_sound_is_planned(tmp_path: Path) -> None:
    """An operator that nobody needs cannot run: max-live is of the file as it is, and so not known."""
    (tmp_path / "dead.model.txt").write_text(DEAD, encoding="utf-8")
    path = manifest(tmp_path, one_model("dead", path="dead.model.txt"))
    plan = planned(path)
    assert plan["alternatives"]["max_live"] is None
    assert plan["workspace"]["achieved"] > 0
    (line,) = (line for line in call("plan", path).out.splitlines() if line.startswith("max-live"))
    assert line.split()[1] == "-"
    off = manifest(tmp_path, one_model("dead", "rewrites = { dead = false }", "dead.model.txt"))
    assert "error[K401]" in call("plan", off).err


@pytest.mark.slow
def test_one_byte_too_few_is_refused_and_explained(tmp_path: Path) -> None:
    text = one_model("digits", '[pools.sram]\naccess = "rw"\nsize = {}\n')
    needed = planned(manifest(tmp_path, text.replace("{}", "100000")))["pools"][0]["size"]
    assert planned(manifest(tmp_path, text.replace("{}", str(needed))))["pools"][0]["size"] == needed
    done = call("plan", manifest(tmp_path, text.replace("{}", str(needed - 1))))
    says(done, 3, "error[P502]", '"sram"', "1 byte", "digits: ", "digits.", "help: ")


REFUSED = """\
FOLDER/usmp.toml:8:8: error[P502]: the buffers do not fit: pool "sram" (36,863 bytes) is 1 byte too small at step 17 \
"vww: CONV_2D 2": vww.activation_2/Relu 36,864
    8 | size = 36863
      |        ^^^^^
help: no plan that runs layer by layer needs less; each of these makes a plan:
  - leave rows = false out of [plan]: layers then run row by row
  - enlarge "sram" by 1 byte
  - enlarge "dtcm" by 4,096 bytes
"""


@pytest.mark.long
def test_one_byte_less_than_two_models_need_is_refused(real_models: Path, tmp_path: Path) -> None:
    """The small memory overflows, and the large one holds one byte less than the least that any plan needs."""
    pools = '[pools.dtcm]\naccess = "rw"\nsize = "32 KiB"\n[pools.sram]\naccess = "rw"\nsize = 36864\n'
    pools += "[plan]\nrows = false\n"
    models = "".join(f'[models.{n}]\npath = "{(real_models / n).as_posix()}.tflite"\n' for n in ("kws", "vww"))
    path = manifest(tmp_path, f'[project]\nname = "p"\n{pools}{models}')
    assert call("plan", path).code == 0
    manifest(tmp_path, path.read_text().replace("36864", "36863"))
    done = call("generate", path, "--out", tmp_path / "out")
    assert (done.code, done.err) == (3, REFUSED.replace("FOLDER", str(tmp_path)))
    assert not (tmp_path / "out").exists()


def test_models_without_kernels_are_planned_and_say_so(tmp_path: Path) -> None:
    (tmp_path / "fork.model.txt").write_text(FORK, encoding="utf-8")
    path = manifest(tmp_path, one_model("fork", path="fork.model.txt"))
    plan = planned(path)
    assert any("UNIQUE" in reason for reason in plan["models"][0]["without_kernel"])
    assert call("plan", path).out.startswith('warning: no C can be generated for model "fork": ')
    done = call("generate", path, "--out", tmp_path / "out")
    says(done, 1, "error[P305]", 'help: run it on a target with kernels = "extern"')
    assert not (tmp_path / "out").exists()


@dataclass(frozen=True)
class Wrong:
    """An algorithm that puts everything at offset 0."""

    def __call__(self, problem: Problem) -> Plan:
        return Plan("wrong", tuple(Allocation(buffer.pools[0], 0) for buffer in problem.buffers))


@dataclass(frozen=True)
class Short:
    """An algorithm that forgets the last buffer."""

    def __call__(self, problem: Problem) -> Plan:
        return Plan("short", tuple(Allocation(buffer.pools[0], 0) for buffer in problem.buffers[:-1]))


@dataclass(frozen=True)
class Helpless:
    """An algorithm that finds nothing."""

    effort: int = 1

    def __call__(self, problem: Problem) -> None:
        return None


@pytest.fixture
def _foreign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(by_name.ALGORITHMS, "wrong", f"{__name__}:Wrong")
    monkeypatch.setitem(by_name.ALGORITHMS, "short", f"{__name__}:Short")
    monkeypatch.setitem(by_name.ALGORITHMS, "helpless", f"{__name__}:Helpless")


@pytest.mark.usefixtures("_foreign")
def test_a_wrong_plan_is_caught_and_named(tmp_path: Path) -> None:
    done = call("plan", manifest(tmp_path, one_model("digits", '[plan]\nalgorithm = "wrong"\n')))
    says(done, 4, 'error[P501]: algorithm "wrong" returned a wrong plan: ', "overlap")


@pytest.mark.usefixtures("_foreign")
def test_a_plan_that_is_too_short_is_caught(tmp_path: Path) -> None:
    says(call("plan", manifest(tmp_path, one_model("digits", '[plan]\nalgorithm = "short"\n'))), 4, "places for")


@pytest.mark.usefixtures("_foreign")
def test_an_algorithm_that_finds_nothing_is_not_taken_for_a_proof(tmp_path: Path) -> None:
    done = call("plan", manifest(tmp_path, TWO_MODELS + '[plan]\nalgorithm = "helpless"\n'))
    assert done.code == 3
    assert "no plan needs less" not in done.err


@pytest.mark.usefixtures("_foreign")
@pytest.mark.parametrize(
    ("table", "code"),
    [
        ('algorithm = "gready_by_size"', "P404"),
        ('algorithm = "helpless"\noptions = { efort = 2 }', "P402"),
    ],
)
def test_unknown_algorithms_and_options_are_named(tmp_path: Path, table: str, code: str) -> None:
    done = call("plan", manifest(tmp_path, f"{TWO_MODELS}[plan]\n{table}\n"))
    says(done, 1, f"error[{code}]", "usmp.toml:", "help: ")


@pytest.mark.parametrize("algorithm", few(["greedy_by_size", "greedy_by_conflicts", "auto"], 1))
def test_every_algorithm_by_its_name(tmp_path: Path, algorithm: str) -> None:
    plan = planned(manifest(tmp_path, f'{TWO_MODELS}[plan]\nalgorithm = "{algorithm}"\n'))
    assert plan["algorithm"].startswith(algorithm)


def test_only_models_smaller_than_the_plan_are_planned_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The largest one was searched with all of them; what the others take is what they take by themselves."""
    searched = []

    def choose(replanner: Replanner) -> BestCandidate:
        searched.append([model.name for model in replanner.request.models])
        return concat_aliasing.choose(replanner)

    models = {name: f'path = "DATA/{name}.tflite"\n' for name in ("digits", "odd_even")}
    alone = [planned(manifest(tmp_path, one_model(name), f"{name}.toml"))["workspace"]["achieved"] for name in models]
    both = manifest(tmp_path, tables("p", {}, models))
    monkeypatch.setattr(alternatives, "choose", choose)
    assert [model["workspace"] for model in planned(both)["alternatives"]["models"]] == alone
    assert searched == [["odd_even"]]


def test_alone_is_meant_in_the_same_pools(tmp_path: Path) -> None:
    """A small pool that is preferred makes a model spread out, with others or without."""
    pools = '[plan]\nrows = false\n[pools.tcm]\naccess = "rw"\nsize = 1536\n[pools.sram]\naccess = "rw"\n'
    odd_even = '[models.odd_even]\npath = "DATA/odd_even.tflite"\n'
    both = manifest(tmp_path, one_model("digits", pools + odd_even))
    alone = planned(manifest(tmp_path, one_model("digits", pools), "alone.toml"))
    workspaces = [model["workspace"] for model in planned(both)["alternatives"]["models"]]
    assert workspaces[0] == sum(pool["size"] for pool in alone["pools"] if pool["access"] == "rw")
    out = call("plan", both).out
    assert f"apart: sharing saves {workspaces[1]}" in out
    assert "every pool is at its bound, and no plan of this schedule in these pools is better" in out
