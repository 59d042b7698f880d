"""What nodes of a schedule do to buffers: read them, replace them, write them, touch them."""

import pytest

from usmp_build.ir.graph import DType, OperatorRef, TensorRef
from usmp_build.ir.schedule import Branch, Call, Loop, Node, Repeat, Scope, ScratchRef, Sequence, Step
from usmp_build.ir.storage import Kind, Storage, StorageBuffer
from usmp_build.passes.effects import Effects, bits_of, members_of

OPERATOR = OperatorRef(0, 0, 0)
CONSTANT, SCRATCH = 4, 5


def effects() -> Effects:
    """Of buffers 0 to 3, the constant 4 and the scratch 5; buffer n holds tensor n."""
    kinds = [*[Kind.INTERMEDIATE] * 4, Kind.CONSTANT, Kind.SCRATCH]
    buffers = tuple(StorageBuffer(f"b{i}", kind, (0,), 1, 1, DType.INT8, (0,), "") for i, kind in enumerate(kinds))
    return Effects(Storage(buffers, {tensor(i): i for i in range(5)}, {OPERATOR: (SCRATCH,)}, {}, {}, {}))


def tensor(number: int) -> TensorRef:
    return TensorRef(0, 0, number)


def step(reads: str = "", writes: str = "", updates: str = "", keeps: str = "", scratch: bool = False) -> Step:
    read, written, updated, kept = (tuple(tensor(int(n)) for n in each) for each in (reads, writes, updates, keeps))
    parts = (ScratchRef(OPERATOR, 0),) * scratch
    return Step("s", 0, read, written, updates=updated, keeps=kept, scratch=parts)


READ, COPY, FILL = step("0"), step("0", "1"), step("", "2")


@pytest.mark.parametrize(
    ("node", "needs", "replaces", "writes", "touches"),
    [
        (Sequence(()), "", "", "", ""),
        (COPY, "0", "1", "1", "01"),
        (step("0", "0"), "0", "", "0", "0"),
        (step("4", "1"), "", "1", "1", "1"),
        (step("", "", updates="1"), "", "", "1", "1"),
        (step("", "1", keeps="0"), "0", "1", "1", "01"),
        (step("0", "1", scratch=True), "0", "1", "1", "015"),
        (Sequence((COPY, step("1", "2"))), "0", "12", "12", "012"),
        (Sequence((step("1", "2"), COPY)), "01", "12", "12", "012"),
        (Branch((COPY, FILL)), "0", "", "12", "012"),
        (Branch((COPY, step("3", "12"))), "03", "1", "12", "0123"),
        (Call("f", COPY), "0", "1", "1", "01"),
        (Scope((tensor(1),), COPY), "0", "", "", "01"),
        (Scope((tensor(0),), step("03", "1")), "3", "1", "1", "013"),
        (Repeat(COPY, 2), "0", "1", "1", "01"),
        (Repeat(COPY, 1), "0", "1", "1", "01"),
        (Repeat(COPY, 0), "0", "", "1", "01"),
        (Repeat(COPY, None), "0", "", "1", "01"),
        (Loop(FILL, COPY), "0", "2", "12", "012"),
        (Loop(READ, step("1", "0")), "01", "", "0", "01"),
    ],
)
def test_effects(node: Node, needs: str, replaces: str, writes: str, touches: str) -> None:
    of_buffers = effects()
    for _ in range(2):  # the second answer is a remembered one
        effect = ["".join(map(str, members_of(bits))) for bits in of_buffers.of(node)]
        assert effect == [needs, replaces, writes, touches]


def test_sets_of_buffers_have_a_bit_for_each() -> None:
    assert bits_of([1, 3]) == 0b1010
    assert [*members_of(0b1010)] == [1, 3]


def test_what_is_needed_before_is_what_is_needed_after_and_not_replaced() -> None:
    effect = effects().of(COPY)
    assert effect.before(bits_of([1, 2])) == bits_of([0, 2])


def test_bodies_that_are_shared_are_looked_at_once() -> None:
    body: Node = COPY
    for _ in range(40):
        body = Sequence((body, body))
    assert effects().of(body) == effects().of(COPY)
