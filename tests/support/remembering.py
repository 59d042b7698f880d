"""Nets one value of which is a variable, so that it is there in the next run."""

from collections.abc import Sequence
from itertools import takewhile

from tests.support.flatbuffer import Node, operator, tensor
from tests.support.net import Net, Value


class RememberingNet(Net):
    """A net that becomes one with a variable when all of it is there."""

    def remember(self, value: Value, instead: set[int]) -> None:
        """Make a value a variable, which operators before its own read in the place of some other tensors."""
        self._tensors[value.index].fields["IsVariable"] = True
        for node in takewhile(lambda node: value.index not in node.fields["Outputs"], self._operators):
            node.fields["Inputs"] = [value.index if index in instead else index for index in node.fields["Inputs"]]

    def assign(self, value: Value, instead: set[int], delay: int) -> None:
        """As `remember`, with READ_VARIABLE, and ASSIGN_VARIABLE some operators behind the value's own."""
        self._tensors.append(tensor("handle", (), "RESOURCE"))
        handle, before = len(self._tensors) - 1, self._operators
        self._operators = [operator("VAR_HANDLE", [], [handle], Node("VarHandleOptions", SharedName="v"))]
        place = next(place for place, node in enumerate(before) if value.index in node.fields["Outputs"]) + delay
        for number, node in enumerate(before):
            if number <= place and not instead.isdisjoint(node.fields["Inputs"]):
                read = self._value(value.shape, value.scale, value.zero)
                self._run("READ_VARIABLE", [handle], read, Node("ReadVariableOptions"))
                node.fields["Inputs"] = [read.index if index in instead else index for index in node.fields["Inputs"]]
            self._operators.append(node)
            if number == min(place, len(before) - 1):
                options = Node("AssignVariableOptions")
                self._operators.append(operator("ASSIGN_VARIABLE", [handle, value.index], [], options))

    def unread(self, values: Sequence[Value]) -> list[Value]:
        """Return those of some values that no operator reads."""
        read = {index for node in self._operators for index in node.fields["Inputs"]}
        return [value for value in values if value.index not in read]
