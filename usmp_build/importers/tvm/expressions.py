"""Prints TIR expressions as C, exactly: every literal has all its digits, and what has no exact C is refused.

C computes narrow integers as `int`, so results are cast back; only one operand of `?:`, `&&` and `||` is evaluated, as
TIR demands where it guards loads.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from usmp_build.importers.program.sizes import TYPES
from usmp_build.importers.tvm.refusal import Refusal, TooDeep
from usmp_build.ir.c_types import PLAIN, float_literal

_ATOM, _UNARY, _PRODUCT, _SUM, _SHIFT, _COMPARED, _BITS, _LOGIC, _CHOICE = range(9)
_BINARY = {
    "Add": ("+", _SUM), "Sub": ("-", _SUM), "Mul": ("*", _PRODUCT), "Div": ("/", _PRODUCT), "Mod": ("%", _PRODUCT),
    "LShift": ("<<", _SHIFT), "RShift": (">>", _SHIFT), "BitwiseAnd": ("&", _BITS), "BitwiseOr": ("|", _BITS),
    "BitwiseXor": ("^", _BITS), "EQ": ("==", _COMPARED), "NE": ("!=", _COMPARED), "LT": ("<", _COMPARED),
    "LE": ("<=", _COMPARED), "GT": (">", _COMPARED), "GE": (">=", _COMPARED), "And": ("&&", _LOGIC),
    "Or": ("||", _LOGIC),
}  # fmt: skip
_OPERATORS = {
    "shift_left": ("<<", _SHIFT), "shift_right": (">>", _SHIFT), "bitwise_and": ("&", _BITS),
    "bitwise_or": ("|", _BITS), "bitwise_xor": ("^", _BITS),
}  # fmt: skip
_FREE_OF_PARENTHESES = {"+", "*"}
_MATH = frozenset(
    """acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh erf exp exp10 exp2 fabs floor fmod hypot ldexp log
    log10 log1p log2 nearbyint nextafter pow rint round sin sinh sqrt tan tanh trunc""".split()
)
_TESTS = frozenset({"isfinite", "isinf", "isnan"})
_NARROW = re.compile(r"u?int(8|16)$")
_DEEPEST = 200
"""Expressions in each other: clang takes 256 brackets, and Python a thousand calls."""


class Text(NamedTuple):
    """C of an expression; a tensor's name stands between two `@`."""

    text: str
    strength: int = _ATOM
    """How tightly its outermost operator binds; less is tighter."""


@dataclass
class Expressions:
    """Prints the expressions of one function."""

    tensors: Callable[[Any], str]
    """Buffer → its name in C."""
    variables: dict[Any, str]
    choices: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of "min" or "max" and a C type, for which there must be a function."""
    needs_math: bool = False
    _depth: int = 0

    def text(self, value: Any) -> str:
        """Return an expression that stands by itself.  Raises Refusal."""
        return self._print(value).text

    def element(self, buffer: Any, indices: Any) -> str:
        """Return an element of a flat buffer."""
        if len(indices) != 1:
            raise Refusal(f"buffer {buffer.name} has {len(indices)} indices")
        return f"{self.tensors(buffer)}[{self.text(indices[0])}]"

    def _print(self, value: Any) -> Text:
        if self._depth == _DEEPEST:
            raise TooDeep(f"an expression nests over {_DEEPEST} deep", "split the model")
        self._depth += 1
        kind = type(value).__name__
        if kind in _BINARY:
            printed = self._binary(value, value.a, value.b, *_BINARY[kind])
        elif printer := getattr(self, f"_{kind.lower()}", None):
            printed = printer(value)
        else:
            raise Refusal(f"there is no C for {kind} of TIR")
        self._depth -= 1
        return printed

    def _var(self, value: Any) -> Text:
        if value not in self.variables:
            raise Refusal(
                f"{value.name} is a number that is known only when it runs", "give main tensors of fixed sizes"
            )
        return Text(self.variables[value])

    def _intimm(self, value: Any) -> Text:
        number, dtype = int(value.value), str(value.ty)
        wide = dtype == "int64"
        if dtype in {"uint32", "uint64"}:
            return Text(f"{number}u" if dtype == "uint32" else f"UINT64_C({number})")
        if number < -(2**31) or number >= 2**31:
            return Text(f"INT64_C({number})" if number > -(2**63) else "INT64_MIN")
        return Text("INT32_MIN") if number == -(2**31) else self._signed(f"INT64_C({number})" if wide else str(number))

    @staticmethod
    def _signed(digits: str) -> Text:
        return Text(digits, _UNARY if digits.startswith("-") else _ATOM)

    def _floatimm(self, value: Any) -> Text:
        if str(value.ty) == "float64":
            number = float(value.value)
            if number != number or number in (float("inf"), float("-inf")):
                raise Refusal("a double is not finite")
            return self._signed(repr(number))
        if str(value.ty) != "float32":
            raise Refusal(f"there is no C type for {value.ty}")
        literal = float_literal(value.value)
        self.needs_math |= literal.strip("-") in {"NAN", "INFINITY"}
        return self._signed(literal)

    def _let(self, value: Any) -> Text:
        """Print the value in place of the variable: it has no effects, and C has no such expression."""
        self.variables[value.var] = f"({self.text(value.value)})"
        return self._print(value.body)

    def _cast(self, value: Any) -> Text:
        if str(value.ty) == "bool":
            return Text(f"{self._inside(value.value, _SHIFT)} != 0", _COMPARED)
        return Text(f"({c_type(value.ty)}){self._inside(value.value, _UNARY)}", _UNARY)

    def _bitwisenot(self, value: Any) -> Text:
        return self._wrapped(value, Text(f"~{self._inside(value.a, _ATOM)}", _UNARY))

    def _not(self, value: Any) -> Text:
        return Text(f"!{self._inside(value.a, _ATOM)}", _UNARY)

    def _select(self, value: Any) -> Text:
        return self._choice(value.condition, value.true_value, value.false_value)

    def _min(self, value: Any) -> Text:
        return self._extreme("min", value)

    def _max(self, value: Any) -> Text:
        return self._extreme("max", value)

    def _extreme(self, which: str, value: Any) -> Text:
        name = c_type(value.ty)
        self.choices.add((which, name))
        return Text(f"usmp_{which}_{name}({self.text(value.a)}, {self.text(value.b)})")

    def _tensorload(self, value: Any) -> Text:
        element = Text(self.element(value.source, value.indices))
        return Text(f"{element.text} != 0", _COMPARED) if str(value.ty) == "bool" else element

    def _call(self, value: Any) -> Text:
        name = getattr(value.op, "name", "").rpartition(".")[2]
        if name == "if_then_else":
            return self._choice(*value.args)
        if name == "likely":
            return self._print(value.args[0])
        if name in _OPERATORS:
            operator, strength = _OPERATORS[name]
            return self._binary(value, value.args[0], value.args[1], operator, strength)
        if name in {"call_pure_extern", "call_extern"}:
            return self._function(str(value.args[0].value), value.args[1:], str(value.ty))
        return self._function(name + "f" * (str(value.ty) == "float32"), value.args, str(value.ty))

    def _function(self, name: str, arguments: Any, dtype: str) -> Text:
        if name in _TESTS:
            self.needs_math = True
            return Text(f"{name}({', '.join(map(self.text, arguments))}) != 0", _COMPARED)
        base = name.removesuffix("f") if dtype == "float32" and name not in _MATH else name
        if base not in _MATH or dtype not in {"float32", "float64"}:
            raise Refusal(f"there is no C for {name} of {dtype} in TIR")
        self.needs_math = True
        return Text(f"{base}{'f' * (dtype == 'float32')}({', '.join(map(self.text, arguments))})")

    def _choice(self, condition: Any, one: Any, other: Any) -> Text:
        return Text(
            f"{self._inside(condition, _ATOM)} ? {self._inside(one, _UNARY)} : {self._inside(other, _UNARY)}", _CHOICE
        )

    def _binary(self, value: Any, left: Any, right: Any, operator: str, strength: int) -> Text:
        """Print an operator; `a + b + c` and `a * b + c` need no parentheses, anything less familiar has them."""
        if operator == "%" and str(value.ty).startswith("float"):
            return self._function("fmod", (left, right), str(value.ty))
        is_plain = operator in _FREE_OF_PARENTHESES or operator == "-"
        before = strength if is_plain else _SUM if strength == _COMPARED else _UNARY
        after = strength - 1 if strength <= _SUM else before
        if operator in {"&&", "||"}:
            parts = (self._logical(each, operator) for each in (left, right))
            return Text(f" {operator} ".join(parts), _LOGIC)
        return self._wrapped(
            value, Text(f"{self._inside(left, before)} {operator} {self._inside(right, after)}", strength)
        )

    def _logical(self, value: Any, operator: str) -> str:
        printed = self._print(value)
        same = type(value).__name__ == {"&&": "And", "||": "Or"}[operator]
        return printed.text if same or printed.strength <= _COMPARED else f"({printed.text})"

    def _wrapped(self, value: Any, printed: Text) -> Text:
        """Cast what C computed as `int` back to its narrow type."""
        if not _NARROW.match(str(value.ty)):
            return printed
        return Text(f"({c_type(value.ty)})({printed.text})", _UNARY)

    def _inside(self, value: Any, strength: int) -> str:
        printed = self._print(value)
        return printed.text if printed.strength <= strength else f"({printed.text})"


def c_type(dtype: Any) -> str:
    """Return the C type of a number.  Raises Refusal."""
    element = TYPES.get(str(dtype))
    if element not in PLAIN:
        raise Refusal(f"there is no C type for {dtype}", "convert the model to float32 or integers")
    return PLAIN[element]
