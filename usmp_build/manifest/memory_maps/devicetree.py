"""Reads the memories of a devicetree as Zephyr writes it: build/zephyr/zephyr.dts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from usmp_build.document.source import Source
from usmp_build.document.suggest import quoted
from usmp_build.manifest.memory_maps.memory import Memory, check_size
from usmp_build.manifest.memory_maps.tokens import DEVICETREE, Token, Tokens

_DEEPEST = 64
_FLAT = "give the devicetree as the build writes it: Zephyr's build/zephyr/zephyr.dts, or what `dtc -O dts` prints"
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,8}|[0-9]{1,10}")
_CHOSEN = {"zephyr,sram": ("RAM", "rw"), "zephyr,flash": ("FLASH", "ro")}
"""Properties of /chosen that Zephyr's linker scripts have regions for."""
_MOST_CELLS = 4

Cell = int | str
"""A number, or the label or path after `&`."""


@dataclass(eq=False)
class _Node:
    name: str
    token: Token
    parent: _Node | None
    labels: list[str] = field(default_factory=list)
    cells: dict[str, list[Cell]] = field(default_factory=dict)
    strings: dict[str, list[str]] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    """Property → its name, as it stands in the file."""
    children: list[_Node] = field(default_factory=list)

    @property
    def path(self) -> str:
        above = self.parent.path if self.parent else ""
        return f"{above}/{self.name}" if self.parent else above

    def walk(self) -> Iterator[_Node]:
        yield self
        for child in self.children:
            yield from child.walk()


def read_devicetree(source: Source) -> tuple[Memory, ...]:
    """Return the memories that Zephyr's linker scripts have regions for, in the order of the file.

    These are the nodes of `zephyr,sram` and `zephyr,flash` of /chosen, the latter as large as `zephyr,code-partition`,
    and nodes of compatible "zephyr,memory-region" that are not disabled.  Raises UsageError (U272, U273) for text that
    is not a devicetree, or is not resolved yet.
    """
    tokens = Tokens(source, DEVICETREE)
    root = _read(tokens)
    nodes = list(root.walk())
    by_name = {label: node for node in nodes for label in node.labels} | {node.path: node for node in nodes}
    chosen = next((node for node in root.children if node.name == "chosen"), root)
    targets = {name: _target(tokens, chosen, name, by_name) for name in (*_CHOSEN, "zephyr,code-partition")}
    memories = []
    for node in nodes:
        for name, (region, access) in _CHOSEN.items():
            if targets[name] is node:
                partition = targets["zephyr,code-partition"] if access == "ro" else None
                memories.append(_memory(tokens, node, region, "ro" if access == "ro" else "rw", partition))
        if "zephyr,memory-region" in node.strings.get("compatible", ()) and _is_enabled(node):
            memories += _named_region(tokens, node)
    return tuple(memories)


def _is_enabled(node: _Node) -> bool:
    return node.strings.get("status", ["okay"])[:1] in (["okay"], ["ok"])


def _named_region(tokens: Tokens, node: _Node) -> Iterator[Memory]:
    names = node.strings.get("zephyr,memory-region")
    if not names:
        message = f"node {quoted(node.path)} has no zephyr,memory-region"
        raise tokens.refused(node.token, message, "add the name of its region, or disable the node")
    mpu, kinds = node.strings.get("zephyr,memory-region-mpu"), node.strings["compatible"]
    is_flash = mpu == ["FLASH"] or "soc-nv-flash" in kinds
    yield _memory(tokens, node, re.sub(r"[^A-Za-z0-9_]", "_", names[0]), "ro" if is_flash else "rw", None)


def _memory(tokens: Tokens, node: _Node, region: str, access: Literal["rw", "ro"], partition: _Node | None) -> Memory:
    """Return the memory of a node; a partition is a part of it.

    On a bus whose devices have no size, such as SPI, `reg` is a number of the device, not an address: no pool.
    """
    token = node.tokens.get("reg", node.token)
    span = tokens.source.between(token.start, token.start + len(token.text))
    if _cell_counts(tokens, node.parent or node)[1] == 0:
        return Memory(region, access, 0, 0, span, no_pool=f"{node.path} is on a bus with #size-cells = 0")
    origin, size = _reg(tokens, node)
    above = node.parent
    while above and above.parent:  # addresses of the root's children are those of the processor
        origin = _translated(tokens, above, origin)
        above = above.parent
    if partition:
        offset, size = _reg(tokens, partition)
        origin += offset
    check_size(size, tokens.source, token.start, token.start + len(token.text))
    return Memory(region, access, size, origin, span)


def _reg(tokens: Tokens, node: _Node) -> tuple[int, int]:
    """Return address and size of a node, as its parent counts them."""
    address, size = _cell_counts(tokens, node.parent or node)
    cells = _numbers(tokens, node, "reg")
    if len(cells) < address + size:
        token = node.tokens.get("reg", node.token)
        message = f'node {quoted(node.path)} has no "reg" with {address} cells of address and {size} of size'
        raise tokens.refused(token, message, "correct reg, or #address-cells and #size-cells of the node above")
    return _joined(cells[:address]), _joined(cells[address : address + size])


def _translated(tokens: Tokens, bus: _Node, address: int) -> int:
    """Return an address on a bus as the node above counts it; empty `ranges`, or none, change nothing."""
    below, size = _cell_counts(tokens, bus)
    above, _ = _cell_counts(tokens, bus.parent or bus)
    cells, step = _numbers(tokens, bus, "ranges"), below + above + size
    for at in range(0, len(cells) - step + 1, step or 1):
        child, parent = _joined(cells[at : at + below]), _joined(cells[at + below : at + below + above])
        if child <= address < child + _joined(cells[at + below + above : at + step]):
            return address - child + parent
    return address


def _cell_counts(tokens: Tokens, node: _Node) -> tuple[int, int]:
    counts = []
    for name, usual in (("#address-cells", 2), ("#size-cells", 1)):
        (count, *_) = _numbers(tokens, node, name) or [usual]
        if count > _MOST_CELLS:
            raise tokens.refused(node.tokens[name], f"{name} is more than {_MOST_CELLS}", "correct the number")
        counts.append(count)
    return counts[0], counts[1]


def _numbers(tokens: Tokens, node: _Node, name: str) -> list[int]:
    cells = node.cells.get(name, [])
    numbers = [cell for cell in cells if isinstance(cell, int)]
    if len(numbers) < len(cells):
        raise tokens.refused(node.tokens[name], f"{name} should hold numbers alone", "correct the property")
    return numbers


def _joined(cells: list[int]) -> int:
    value = 0
    for cell in cells:
        value = value << 32 | cell
    return value


def _target(tokens: Tokens, chosen: _Node, name: str, by_name: dict[str, _Node]) -> _Node | None:
    """Return the node that a property of /chosen names, by label or by path; None where it is not there."""
    wanted = [*chosen.strings.get(name, ()), *map(str, chosen.cells.get(name, ()))]
    if not wanted:
        return None
    if wanted[0] not in by_name:
        raise tokens.refused(chosen.tokens[name], f"{name} names {quoted(wanted[0])}, which is not there", _FLAT)
    return by_name[wanted[0]]


def _read(tokens: Tokens) -> _Node:
    """Take the whole file; return the root."""
    root: _Node | None = None
    while tokens.next.text:
        token = tokens.take()
        if token.text in ("/dts-v1/", "/plugin/", "/memreserve/"):
            tokens.skip_statement()
        elif token.text == "/" and root is None:
            tokens.expect("{")
            root = _Node("", token, None)
            _read_body(tokens, root)
            tokens.expect(";")
        elif token.text == "/" or token.text[0] in "&/":
            raise tokens.refused(token, "this devicetree changes nodes of another one, or of its own", _FLAT)
        else:
            raise tokens.malformed(token, "expected the root of a devicetree, / { ... };")
    if root is None:
        raise tokens.malformed(tokens.next, "expected the root of a devicetree, / { ... };")
    return root


def _read_body(tokens: Tokens, root: _Node) -> None:
    """Take properties and nodes to the brace that closes the root."""
    node, depth, labels = root, 1, list[str]()
    while depth:
        token = tokens.take()
        if token.text == "}":
            depth -= 1
            node = node.parent or node
            if depth:
                tokens.expect(";")
        elif not token.text or not (token.text[0].isalnum() or token.text[0] in "#_,.+?"):
            if token.text[:1] == "/":
                raise tokens.refused(token, f"{token.text} changes what other files say", _FLAT)
            raise tokens.malformed(token, "expected a property, a node or }")
        elif tokens.accept(":"):
            labels.append(token.text)
        elif tokens.accept("{"):
            depth += 1
            if depth > _DEEPEST:
                raise tokens.refused(token, f"more than {_DEEPEST} nodes in nodes", "remove some")
            child = _Node(token.text, token, node, labels)
            node.children.append(child)
            node, labels = child, []
        else:
            _read_property(tokens, node, token)


def _read_property(tokens: Tokens, node: _Node, name: Token) -> None:
    """Take the value of a property; its labels and bytes mean nothing here."""
    node.tokens[name.text] = name
    cells = node.cells[name.text] = []
    strings = node.strings[name.text] = []
    if tokens.expect("=", ";").text == ";":
        return
    while not tokens.accept(";"):
        token = tokens.take()
        if token.text == "/bits/":
            token = tokens.take()
        elif token.text.startswith('"') and len(token.text) > 1:
            strings.append(token.text[1:-1])
        elif token.text == "<":
            while not tokens.accept(">"):
                cells.append(_read_cell(tokens))
        elif token.text.startswith("&"):
            cells.append(token.text[1:].strip("{}"))
        elif token.text == "[":
            _skip_bytes(tokens)
        elif token.text != ",":
            raise tokens.malformed(token, "expected a value of a property, or ;")


def _skip_bytes(tokens: Tokens) -> None:
    while not tokens.accept("]"):
        token = tokens.take()
        if token.text in ("", ";"):
            raise tokens.malformed(token, "expected bytes or ]")


def _read_cell(tokens: Tokens) -> Cell:
    token = tokens.take()
    if token.text.startswith("&"):
        return token.text[1:].strip("{}")
    if token.text == "(":
        raise tokens.refused(token, "expressions are not read", _FLAT)
    if not _NUMBER.fullmatch(token.text):
        raise tokens.malformed(token, "expected a number of 32 bits, a reference or >")
    return int(token.text, 16 if token.text[1:2] in ("x", "X") else 10)
