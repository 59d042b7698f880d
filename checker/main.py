"""The program: what needs no replay, and what it says."""

import hashlib
import json
import sys
from collections import Counter
from itertools import pairwise, product
from pathlib import Path

from checker.model import Fuel, Model, NotCovered, Wrong, demand
from checker.plan import flat_buffers
from checker.replay import Replay

USAGE = """usage: python check_plan.py plan.json kws.tflite ...

exit code 0: right, 1: wrong, 3: something is not covered, and what comes after it was not checked, 2: usage"""

STORED = {"CONV_2D": (1, 2), "DEPTHWISE_CONV_2D": (1, 2), "FULLY_CONNECTED": (1, 2), "TRANSPOSE_CONV": (1, 3),
          "RECURRENT": (*range(1, 9), *range(12, 16))}  # fmt: skip  # weights and biases


def check_places(plan):
    """Check pools, limits, alignments, constants, and models that may run at the same time."""
    pools = {pool["name"]: pool for pool in plan["pools"]}
    demand(len(pools) == len(plan["pools"]), "two pools have one name")
    together = {frozenset(pair) for pair in plan["concurrent"]}
    lying = {name: [] for name in pools}
    for b in flat_buffers(plan):
        demand(b.pool in pools, f'"{b.name}" is in "{b.pool}", which is no pool')
        pool, end = pools[b.pool], end_of(b)
        demand(b.kind == "constant" or pool["access"] == "rw", f'"{b.name}" is in "{b.pool}", which is read-only')
        demand(b.offset >= 0 and b.size >= 0 and end <= pool["size"],
               f'"{b.name}" ends at {b.pool}+{end}, and the pool has {pool["size"]} bytes')  # fmt: skip
        aligned = all(unit > 0 and b.offset % unit == 0 for unit in (b.alignment, b.line or 1))
        demand(aligned, f'"{b.name}" at {b.pool}+{b.offset} is not aligned')
        power = b.alignment & -b.alignment
        demand(pool["alignment"] % power == 0, f'pool "{b.pool}" is aligned to less than "{b.name}"')
        is_within = all(0 <= start < stop <= len(plan["steps"]) for start, stop in b.intervals)
        demand(is_within, f'"{b.name}" is alive outside of the steps')
        if b.size:
            lying[b.pool].append(b)
    for name, pool in pools.items():
        demand(pool["limit"] is None or pool["size"] <= pool["limit"], f'pool "{name}" is larger than its limit')
        power, origin = pool["alignment"], pool["origin"] or 0
        is_power = power > 0 and power & (power - 1) == 0
        demand(is_power and origin % power == 0, f'pool "{name}" is not aligned')
    fixed = [(p["origin"], p["origin"] + p["size"], name) for name, p in pools.items() if p["origin"] is not None]
    for (_, end, one), (start, _, other) in pairwise(sorted(fixed)):
        demand(end <= start, f'pools "{one}" and "{other}" share addresses')
    for pool, buffers in lying.items():
        check_apart(pool, sorted(buffers, key=lambda b: (b.offset, end_of(b), b.name)), together)


def end_of(buffer):
    """Where a buffer ends, with all of its last cache line."""
    return buffer.offset + buffer.size + (-buffer.size % buffer.line if buffer.line else 0)


def check_apart(pool, buffers, together):
    """Check that what nobody may ever overwrite lies apart: constants, data of concurrent models, cache lines."""
    open_ones = []
    for b in buffers:
        open_ones = [other for other in open_ones if end_of(other) > b.offset]
        for other in open_ones:
            Fuel.spend(1, len(b.models) * len(other.models), len(b.intervals) * len(other.intervals))
            concurrent = any(frozenset(pair) in together for pair in product(b.models, other.models))
            alive = any(a < stop and start < z for (a, z), (start, stop) in product(b.intervals, other.intervals))
            has_lines = (b.line or other.line) and alive
            if concurrent or "constant" in (b.kind, other.kind) or has_lines:
                raise Wrong(f'"{other.name}" and "{b.name}" share bytes of pool "{pool}"')
        open_ones.append(b)


def check_constants(plan, models):
    """Demand that weights and biases are in the plan, each in bytes of its own; return what is not checked.

    The plan does not say what a constant holds.  So of each size there must be as many as the files have.
    """
    is_plain = all(target["kernels"] == "reference" and target["isa"] == "portable" for target in plan["targets"])
    constants, pairs = [b for b in flat_buffers(plan) if b.kind == "constant"], [*zip(plan["models"], models)]
    unchecked, sizes = {}, set()
    for group in (*([pair] for pair in pairs), pairs):
        names, contents = {record["name"] for record, _ in group}, {data for pair in group for data in stored(*pair)}
        is_sure = is_plain and not any(r["channels"] or r["weights"] for each, _ in group for r in each["rewrites"])
        sizes.update(map(len, contents))
        for size, number in Counter(map(len, contents)).items():
            there = [b for b in constants if b.size == size and names & {*b.models}]
            what = f"{number} constants of {size} bytes of {', '.join(sorted(names))}"
            demand(len(there) >= number or not is_sure, f"the plan has {len(there)} for the {what}")
            if len([b for b in there if b.reason == "of the model"]) < number:
                unchecked[f"what the {what} became"] = None
    others = sorted(b.name for b in constants if b.reason != "of the model" or b.size not in sizes)
    return [*unchecked, *(f'that "{name}" has its size, and what it holds' for name in others)]


def stored(record, model):
    """Yield the bytes of constants that are stored as they are: weights, biases and outputs, but none of 4 bits."""
    operators = [model.operators[op["operator"]] for op in record["operators"] if op["operator"] < len(model.operators)]
    tensors = {op.inputs[i] for op in operators for i in STORED.get(op.kind, ()) if i < len(op.inputs)}
    for t in {*model.outputs, *tensors} - model.variables - {-1}:
        if model.tensors[t].data and len(model.tensors[t].data) == model.tensors[t].elements * model.tensors[t].width:
            yield model.tensors[t].data


def check_certificate(plan, pool, replay):
    """Check the bound of a pool; returns why it cannot be checked by looking, or nothing."""
    name, bound, proof = pool["name"], pool["bound"], pool["certificate"]
    demand(0 <= bound <= pool["size"], f'pool "{name}" has {pool["size"]} bytes, and its bound is {bound}')
    if proof is None:
        return f'bound of "{name}": a search proved it' if pool["access"] == "rw" and bound else ""
    members = [replay.buffers[each] for each in dict.fromkeys(proof["buffers"]) if each in replay.buffers]
    demand(
        len(members) == len(proof["buffers"]), f'the certificate of "{name}" has a buffer twice, or one that is none'
    )
    demand(all(buffer.pool == name for buffer in members), f'the certificate of "{name}" has buffers of another pool')
    total = sum(end_of(buffer) - buffer.offset for buffer in members)
    demand(total >= bound, f'the buffers of the certificate of "{name}" have {total} bytes, and its bound is {bound}')
    steps = [step["text"] for step in plan["steps"]]
    if proof["step"] is None or steps.count(proof["step"]) != 1:
        return f'bound of "{name}": it is of models that run at the same time'
    step = steps.index(proof["step"])
    for buffer in members:
        seen = replay.seen.get(buffer.name)
        if buffer.kind not in ("variable", "connection", "constant") and not (seen and min(seen) <= step <= max(seen)):
            kept = [start <= step < stop for start, stop in buffer.intervals if buffer.kind in ("input", "output")]
            demand(any(kept), f'the certificate of "{name}" counts "{buffer.name}", which holds nothing then')
            return f'bound of "{name}": it counts "{buffer.name}", which the application is said to keep'
    most = replay.loads[name].most() if name in replay.loads else total
    return "" if most >= bound else f'bound of "{name}": only {most} bytes can be seen to be needed at once'


def check(plan, models):
    """Check a plan; returns what is not checked.  Raises Wrong or NotCovered."""
    Fuel.left = Fuel.MOST
    demand(plan["version"] == 3, "this is a plan of another version")
    check_places(plan)
    for record in plan["models"]:
        if record["on_demand"] or not record["operators"]:
            raise NotCovered(f"{record['name']}: a program, or a model without operators")
    names = [record["name"] for record in plan["models"]]
    demand(len({*names}) == len(names), "two models have one name")
    replay, step = Replay(plan, models), 0
    for model in replay.models:
        step = replay.run(model, step)
    demand(step == len(plan["steps"]), "there are steps of no model")
    unchecked = [*check_constants(plan, models), *sorted(replay.unchecked)]
    unchecked += [
        f"{each.name}: that operator {n} changes nothing" for each in replay.models for n in sorted(each.beliefs)
    ]
    return [*unchecked, *(reason for pool in plan["pools"] if (reason := check_certificate(plan, pool, replay)))]


def of_manifest(plan):
    """Yield what this file takes from the plan unchecked, because only the manifest states it."""
    for p in plan["pools"]:
        limit = "no limit" if p["limit"] is None else f"a limit of {p['limit']} bytes"
        yield f'that pool "{p["name"]}" has the owner "{p["owner"]}", the region "{p["region"]}" and {limit}'
    for m in plan["models"]:
        ports = f"{', '.join(m['inputs'])} are its inputs and {', '.join(m['outputs'])} its outputs, by name"
        rows = ", ".join([*m["inputs_by_rows"], *m["outputs_by_rows"]]) or "none"
        yield f"{m['name']}: that {ports}; that {rows} of them come or go by rows, and no more are kept between runs"
    pairs = ", ".join(" and ".join(pair) for pair in plan["concurrent"]) or "none"
    yield f"that of all models only these run at the same time: {pairs}"


def say(verdict, reason, code):
    """Print a line; names in plans are not to be trusted with a terminal."""
    print(f"{verdict}: {str(reason)[:1000].encode('unicode_escape').decode('ascii')}")
    return code


def main(arguments):
    if len(arguments) < 2:
        print(USAGE)
        return 2
    try:
        plan = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
        files = {hashlib.sha256(data).hexdigest(): data for data in (Path(path).read_bytes() for path in arguments[1:])}
        missing = [record["name"] for record in plan["models"] if record["sha256"] not in files]
        demand(not missing, f"none of the files is the one that {', '.join(missing)} was planned from")
        models = [Model(files[record["sha256"]]) for record in plan["models"]]
        unchecked = check(plan, models)
    except NotCovered as reason:
        return say("not covered", reason, 3)
    except Wrong as wrong:
        return say("wrong", wrong, 1)
    except Exception as damage:  # whatever it is that cannot be read or followed: it is not right
        return say("wrong", f"this is no plan, or no model: {type(damage).__name__}: {damage}", 1)
    print("right: everything that an operator needs is in its place when it is read")
    for each in [*unchecked, *of_manifest(plan)]:
        say("not checked", each, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
