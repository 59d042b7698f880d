"""Say whether each operator of the models runs here, and if not, why and what to do; plans nothing."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Sequence

from usmp_build import plugins
from usmp_build.cli.overrides import manifest_arguments
from usmp_build.cli.reading import read_request
from usmp_build.cli.table import columns
from usmp_build.report.operator_support import OperatorSupport, Support, operator_support
from usmp_build.search.replanner import Replanner

_WAYS_OUT = {
    Support.NEEDS_FUNCTION: 'needs a function of yours: run it on a target with kernels = "extern" (docs/targets.md)',
    Support.PLANNED_ONLY: 'planned only: "usmp-build plan" shows the plan, and no C can be generated for it',
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    manifest_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON: every operator by itself")
    parser.set_defaults(note=False)  # a manifest that was made up does not matter here


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    request, files = read_request(parsed, has_isa_note=False)
    models = tuple(plugins.import_model(model, files) for model in request.models)
    operators = operator_support(request, models, Replanner.of(request, models).libraries)
    if parsed.json:
        print(json.dumps([{**dataclasses.asdict(each), "support": each.support.value} for each in operators], indent=1))
    else:
        print("\n".join(_lines(operators)))
    return 0


def _lines(operators: Sequence[OperatorSupport]) -> Iterator[str]:
    """Yield a line for all operators of a model that are alike, then how many run, and the ways out.

    Types are listed once, since some operators have two dozen operands.
    """
    alike = Counter((each.model, each.kind, _types(each), _what(each)) for each in operators)
    rows = [(model, kind, types, f"{count:,}", what) for (model, kind, types, what), count in alike.items()]
    yield from columns(("model", "operator", "types", "count", "runs"), rows, "<<<><")
    yield ""
    for model in dict.fromkeys(each.model for each in operators):
        supports = Counter(each.support for each in operators if each.model == model)
        run = supports[Support.RUNS] + supports[Support.NOTHING_RUNS]
        yield f"{model}: {run:,} of {supports.total():,} operators run"
    yield from dict.fromkeys(each.way_out for each in operators if each.way_out)
    for support, way_out in _WAYS_OUT.items():
        if any(each.support is support and not each.way_out for each in operators):
            yield way_out


def _types(each: OperatorSupport) -> str:
    sides = ([*dict.fromkeys(name for name in names if name != "-")] for names in (each.inputs, each.outputs))
    return " -> ".join(map(" ".join, sides))


def _what(each: OperatorSupport) -> str:
    """Return how an operator runs, by which functions and why not by better ones; or what becomes of it, and why."""
    if not each.functions:
        becomes = "no C" if each.way_out else each.support.value
        return each.how if each.support is Support.RUNS else f"{becomes}: {each.how}"
    return "; ".join([f"{each.how}: {' '.join(each.functions)}", *(f"not {reason}" for reason in each.declined)])
