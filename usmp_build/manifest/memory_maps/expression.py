"""Expressions of GNU ld: numbers of 64 bits, symbols, and regions that were read before."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from usmp_build.document.suggest import quoted
from usmp_build.frozen import frozen
from usmp_build.manifest.memory_maps.tokens import Token, Tokens

_BITS = 64
_MASK = (1 << _BITS) - 1
_DEEPEST = 32
"""Most brackets in brackets, and symbols that need symbols."""
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})([kKmM]?)")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20}

Binary = Callable[[int, int], int]
_LEVELS: tuple[Mapping[str, Binary], ...] = (
    {"||": lambda a, b: bool(a or b)},
    {"&&": lambda a, b: bool(a and b)},
    {"|": operator.or_},
    {"^": operator.xor},
    {"&": operator.and_},
    {"==": operator.eq, "!=": operator.ne},
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    {"<<": lambda a, b: a << b if b < _BITS else 0, ">>": lambda a, b: a >> b if b < _BITS else 0},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": operator.floordiv, "%": operator.mod},
)
"""The operators that bind least come first."""


@frozen
class Unknown:
    """Why an expression has no value: it does not matter in the branch of a condition that is not taken."""

    token: Token
    message: str
    help: str


Value = int | Unknown


@dataclass
class Names:
    """What names stand for."""

    symbols: dict[str, int] = field(default_factory=dict)
    """Symbol → where its expression begins, as a position among the words."""
    regions: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Region → its origin and length, in bytes."""
    values: dict[str, Value] = field(default_factory=dict)
    """Symbols that have been evaluated."""


def number(tokens: Tokens, names: Names) -> int:
    """Take an expression; return its value.  Raises UsageError (U272, U273) where it has none."""
    value = _Reader(tokens, names).whole()
    if isinstance(value, Unknown):
        raise tokens.refused(value.token, value.message, value.help)
    return value


@dataclass
class _Reader:
    """Takes the words of an expression."""

    tokens: Tokens
    names: Names
    depth: int = 0

    def whole(self) -> Value:
        """An expression, which may be a condition with two branches."""
        self.depth += 1
        if self.depth > _DEEPEST:
            help_ = "write the number itself"
            raise self.tokens.refused(self.tokens.next, f"more than {_DEEPEST} brackets or symbols deep", help_)
        condition = self._binary(0)
        if self.tokens.accept("?"):
            yes = self.whole()
            self.tokens.expect(":")
            no = self.whole()
            condition = condition if isinstance(condition, Unknown) else yes if condition else no
        self.depth -= 1
        return condition

    def _binary(self, level: int) -> Value:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self.tokens.next.text in _LEVELS[level]:
            token = self.tokens.take()
            right = self._binary(level + 1)
            if isinstance(left, Unknown) or isinstance(right, Unknown):
                left = left if isinstance(left, Unknown) else right
            elif token.text in "/%" and right == 0:
                left = Unknown(token, "division by zero", "correct the expression")
            else:
                left = int(_LEVELS[level][token.text](left, right)) & _MASK
        return left

    def _unary(self) -> Value:
        signs = []
        while self.tokens.next.text in ("-", "+", "~", "!"):
            signs.append(self.tokens.take().text)
        value = self._operand()
        for sign in reversed(signs):
            if isinstance(value, int):
                value = {"-": -value, "+": value, "~": ~value, "!": int(not value)}[sign] & _MASK
        return value

    def _operand(self) -> Value:
        token = self.tokens.take()
        if token.text == "(":
            value = self.whole()
            self.tokens.expect(")")
            return value
        if token.text[:1].isdigit():
            match = _NUMBER.fullmatch(token.text)
            if not match:
                raise self.tokens.malformed(token, "expected a number, such as 0x20000000, 65536 or 64K")
            digits, unit = match.groups()
            is_octal = digits[0] == "0" and not digits.strip("01234567")
            return (
                int(digits, 16 if digits[1:2] in ("x", "X") else 8 if is_octal else 10) * _UNITS[unit.lower()] & _MASK
            )
        if not token.text or not (token.text[0].isalpha() or token.text[0] in "_.$"):
            raise self.tokens.malformed(token, "expected an expression")
        return self._call(token) if self.tokens.accept("(") else self._symbol(token)

    def _call(self, function: Token) -> Value:
        if function.text in ("ORIGIN", "LENGTH", "DEFINED"):
            name = self.tokens.take()
            self.tokens.expect(")")
            if function.text == "DEFINED":
                return int(name.text in self.names.symbols)
            region = self.names.regions.get(name.text)
            if region is None:
                return Unknown(name, f"there is no region {quoted(name.text)} above", "write the number itself")
            return region[function.text == "LENGTH"]
        first = self.whole()
        second: Value = 0
        if self.tokens.accept(","):
            second = self.whole()
        self.tokens.expect(")")
        if function.text not in ("MAX", "MIN"):
            return Unknown(function, f"{quoted(function.text)} is not read here", "write the number itself")
        if isinstance(first, Unknown) or isinstance(second, Unknown):
            return first if isinstance(first, Unknown) else second
        return max(first, second) if function.text == "MAX" else min(first, second)

    def _symbol(self, token: Token) -> Value:
        name = token.text
        start = self.names.symbols.get(name)
        if start is None:
            return Unknown(token, f"symbol {quoted(name)} has no value in this file", "write the number itself")
        if name not in self.names.values:
            self.names.values[name] = Unknown(token, f"symbol {quoted(name)} needs itself", "write the number itself")
            here, self.tokens.at = self.tokens.at, start
            self.names.values[name] = self.whole()
            self.tokens.at = here
        return self.names.values[name]
