"""The program: what needs no replay, and what it says."""

import hashlib
import json
import sys
from itertools import chain, pairwise, product
from pathlib import Path

from checker.definitions import WEIGHTS
from checker.model import Fuel, Model, NotCovered, Wrong, demand, merge
from checker.plan import flat_buffers, number_of
from checker.replay import Replay

USAGE = "usage: check_plan.py plan.json kws.tflite ...; exit code 0: right, 1: wrong, 3: not covered, 2: this"


def check_places(plan, buffers):
    """Check pools, limits, alignments, constants, and models that may run at the same time."""
    pools = {pool["name"]: pool for pool in plan["pools"]}
    demand(len(pools) == len(plan["pools"]), "two pools have one name")
    for b in buffers:
        demand(b.pool in pools, f'"{b.name}" is in "{b.pool}", which is no pool')
        pool = pools[b.pool]
        demand(b.kind == "constant" or pool["access"] == "rw", f'"{b.name}" is in "{b.pool}", which is read-only')
        fits = b.offset >= 0 and b.size >= 0 and b.end <= pool["size"]
        demand(fits, f'"{b.name}" ends at {b.pool}+{b.end}, and the pool has {pool["size"]} bytes')
        is_aligned = all(unit > 0 and b.offset % unit == 0 for unit in (b.alignment, b.line or 1))
        demand(is_aligned, f'"{b.name}" at {b.pool}+{b.offset} is not aligned')
        largest_power = b.alignment & -b.alignment
        demand(pool["alignment"] % largest_power == 0, f'pool "{b.pool}" is aligned to less than "{b.name}"')
        is_within = all(0 <= start < stop <= len(plan["steps"]) for start, stop in b.intervals)
        demand(is_within, f'"{b.name}" is alive outside of the steps')
    for name, pool in pools.items():
        demand(pool["limit"] is None or pool["size"] <= pool["limit"], f'pool "{name}" is larger than its limit')
        unit = pool["alignment"]
        is_power = unit > 0 and unit & (unit - 1) == 0
        demand(is_power and (pool["origin"] or 0) % unit == 0, f'pool "{name}" is not aligned')
    fixed = [(p["origin"], p["origin"] + p["size"], name) for name, p in pools.items() if p["origin"] is not None]
    for (_, end, one), (start, _, other) in pairwise(sorted(fixed)):
        demand(end <= start, f'pools "{one}" and "{other}" share addresses')
    together = {frozenset(pair) for pair in plan["concurrent"]}
    for name in pools:
        lying = [b for b in buffers if b.pool == name and b.size]
        check_apart(name, sorted(lying, key=lambda b: (b.offset, b.end, b.name)), together)


def check_apart(pool, buffers, together):
    """Check that what nobody may ever overwrite lies apart: constants, data of concurrent models, cache lines."""
    open_ones = []
    for b in buffers:
        open_ones = [other for other in open_ones if other.end > b.offset]
        for other in open_ones:
            Fuel.spend(1 + len(b.models) * len(other.models) + len(b.intervals) * len(other.intervals))
            is_concurrent = any(frozenset(pair) in together for pair in product(b.models, other.models))
            lives = product(b.intervals, other.intervals)
            shares_lines = (b.line or other.line) and any(a < stop and start < z for (a, z), (start, stop) in lives)
            if is_concurrent or shares_lines or "constant" in (b.kind, other.kind):
                raise Wrong(f'"{other.name}" and "{b.name}" share bytes of pool "{pool}"')
        open_ones.append(b)


def check_constants(plan, buffers, files):
    """Demand that weights and biases are in the plan, each in bytes of its own; return what is not checked.

    The plan does not say what a constant holds.  So of each size there must be as many as the files have.
    """
    is_plain = all(target["kernels"] == "reference" and target["isa"] == "portable" for target in plan["targets"])
    constants, pairs = [b for b in buffers if b.kind == "constant"], [*zip(plan["models"], files, strict=True)]
    unchecked, sizes = {}, set()
    for group in (*([pair] for pair in pairs), pairs):
        names, widths = {record["name"] for record, _ in group}, {}
        for record, file in group:
            merge(widths, stored(record, file))
        is_sure = is_plain and not any(r["channels"] or r["weights"] for each, _ in group for r in each["rewrites"])
        sizes.update(map(len, widths))
        for size, width in sorted({(len(data), width) for data, width in widths.items()}):
            number = sum(len(data) == size and least >= width for data, least in widths.items())
            there = [b for b in constants if b.size == size and b.alignment % width == 0 and names & {*b.models}]
            what = f"{number} constants of {size} bytes of {', '.join(sorted(names))}"
            demand(len(there) >= number or not is_sure, f"the plan has {len(there)} for the {what}")
            if len([b for b in there if b.reason == "of the model"]) < number:
                unchecked[f"what the {what} became"] = None
    others = sorted(b.name for b in constants if b.reason != "of the model" or b.size not in sizes)
    return [*unchecked, *(f'that "{name}" has its size, and what it holds' for name in others)]


def stored(record, file):
    """Return {bytes: width of an element} of constants stored as they are: weights, biases, outputs; none of 4 bits."""
    numbers = [number for op in record["operators"] if (number := number_of(op)) < len(file.operators)]
    operators = [file.operators[number] for number in numbers if file.operators[number].kind != "PAD"]
    tensors = {op.inputs[i] for op in operators for i in WEIGHTS.get(op.kind, ()) if i < len(op.inputs)}
    tensors = [file.tensors[t] for t in {*file.outputs, *tensors} - file.variables - {-1}]
    tensors.sort(key=lambda tensor: tensor.width)  # of equal bytes the widest elements count
    return {each.data: each.width for each in tensors if each.data and len(each.data) == each.elements * each.width}


def check_certificate(pool, replay):
    """Check the bound of a pool; return why it cannot be checked by looking, or nothing."""
    name, bound, proof = pool["name"], pool["bound"], pool["certificate"]
    demand(0 <= bound <= pool["size"], f'pool "{name}" has {pool["size"]} bytes, and its bound is {bound}')
    if proof is None:
        return f'bound of "{name}": a search proved it' if pool["access"] == "rw" and bound else ""
    members = [replay.buffers[each] for each in dict.fromkeys(proof["buffers"]) if each in replay.buffers]
    are_there = len(members) == len(proof["buffers"])
    demand(are_there, f'the certificate of "{name}" has a buffer twice, or one that is none')
    demand(all(b.pool == name for b in members), f'the certificate of "{name}" has buffers of another pool')
    total = sum(b.end - b.offset for b in members)
    demand(total >= bound, f'the buffers of the certificate of "{name}" have {total} bytes, and its bound is {bound}')
    if name not in replay.proven_at:
        return f'bound of "{name}": it is of models that run at the same time'
    step = replay.proven_at[name]
    for b in members:
        seen = replay.touched[b.name]
        is_seen = len(seen) > 0 and min(seen) <= step <= max(seen)
        if is_seen or b.kind in ("variable", "connection", "constant"):
            continue
        is_port = b.kind in ("input", "output") and b.is_alive(step)
        demand(is_port, f'the certificate of "{name}" counts "{b.name}", which holds nothing then')
        return f'bound of "{name}": it counts "{b.name}", which the application is said to keep'
    most = replay.loads[name].most() if name in replay.loads else total
    return "" if most >= bound else f'bound of "{name}": only {most} bytes can be seen to be needed at once'


def check(plan, files):
    """Check a plan; return what is not checked.  Raises Wrong or NotCovered."""
    Fuel.left = Fuel.MOST
    demand(plan["version"] == 3, "this is a plan of another version")
    buffers, names = [*flat_buffers(plan)], {record["name"] for record in plan["models"]}
    check_places(plan, buffers)
    for record in plan["models"]:
        if record["on_demand"] or not record["operators"]:
            raise NotCovered(f"{record['name']}: a program, or a model without operators")
    demand(len(names) == len(plan["models"]), "two models have one name")
    replay, step = Replay(plan, files, buffers), 0
    for model in replay.models:
        step = replay.run(model, step)
    demand(step == len(plan["steps"]), "there are steps of no model")
    unproven = [check_certificate(pool, replay) for pool in plan["pools"]]
    of_constants = check_constants(plan, buffers, files)
    users = {*chain(*plan["concurrent"], *(b.models for b in buffers))}
    demand(names >= users, f"there is no model {', '.join(sorted(map(str, users - names)))}")
    of_models = [each for model in replay.models for each in model.unchecked()]
    return [*of_constants, *sorted(replay.unchecked), *of_models, *filter(None, unproven)]


def of_manifest(plan):
    """Yield what this file takes from the plan unchecked, because only the manifest states it."""
    for p in plan["pools"]:
        limit = "no limit" if p["limit"] is None else f"a limit of {p['limit']} bytes"
        yield f'that pool "{p["name"]}" is {p["access"]}, of "{p["owner"]}", in region "{p["region"]}", and has {limit}'
    for m in plan["models"]:
        ports = f"{', '.join(m['inputs'])} are its inputs and {', '.join(m['outputs'])} its outputs, by name"
        rows = ", ".join([*m["inputs_by_rows"], *m["outputs_by_rows"]]) or "none"
        yield f"{m['name']}: that {ports}; that {rows} of them come or go by rows, and no more are kept between runs"
    yield "that no operator needs a constant beside those of the plan"
    pairs = ", ".join(" and ".join(pair) for pair in plan["concurrent"]) or "none"
    yield f"that of all models only these run at the same time: {pairs}"


def verdict(paths):
    """Return what to print of a plan and the files of its models, and the exit code."""
    try:
        plan = json.loads(Path(paths[0]).read_text(encoding="utf-8"))
        contents = [Path(path).read_bytes() for path in paths[1:]]
        files = {hashlib.sha256(data).hexdigest(): data for data in contents}
        missing = [record["name"] for record in plan["models"] if record["sha256"] not in files]
        demand(not missing, f"none of the files is the one that {', '.join(missing)} was planned from")
        unchecked = check(plan, [Model(files[record["sha256"]]) for record in plan["models"]])
        right = "right: everything that an operator needs is in its place when it is read"
        return [right, *(f"not checked: {each}" for each in (*unchecked, *of_manifest(plan)))], 0
    except NotCovered as reason:
        return [f"not covered: {reason}"], 3
    except Wrong as wrong:
        return [f"wrong: {wrong}"], 1
    except Exception as damage:  # whatever it is that cannot be read or followed: it is not right
        return [f"wrong: this is no plan, or no model: {type(damage).__name__}: {damage}"], 1


def main(arguments):
    """Run the program with these arguments; return the exit code."""
    lines, code = verdict(arguments) if len(arguments) > 1 else ([USAGE], 2)
    for line in lines:  # names in plans are not to be trusted with a terminal
        sys.stdout.write(line[:1000].encode("unicode_escape").decode("ascii") + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
