"""Writes the declarations of the application's functions for the generated header."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from usmp_build.errors import Diagnostic, KernelError
from usmp_build.interfaces.kernels import KernelCall, Member, Prototype
from usmp_build.naming import c_comment

_WIDTH = 120
"""Most columns of a line."""


def declarations(calls: Iterable[KernelCall], prefix: str) -> str:
    """Return the structs and prototypes of all functions, by name, and for each a macro that it is called.

    The macro is for C files that have kernels for several plans.
    Raises KernelError when two kinds of operators have one name in C.
    """
    functions: dict[str, Prototype] = {}
    for call in calls:
        assert call.prototype is not None  # of this library's own calls
        first = functions.setdefault(call.function, call.prototype)
        if first != call.prototype:
            message = f"two kernels of the application have the name {prefix}_{call.function} in C: "
            help_ = "rename one of the custom operators in the model"
            raise KernelError(Diagnostic("K409", f"{message}{first.comment}, {call.prototype.comment}", help=help_))
    return "\n\n".join(_declared(f"{prefix}_{name}", functions[name]) for name in sorted(functions))


def _declared(name: str, prototype: Prototype) -> str:
    return "\n".join(
        [
            f"/* {c_comment(prototype.comment)}: supplied by the application. */",
            f"#define {name.upper()} 1",
            f"struct {name}_parameters {{",
            *map(_member, prototype.members),
            "};",
            *_wrapped(name, (f"const struct {name}_parameters *p", *prototype.arguments)),
        ]
    )


def _member(member: Member) -> str:
    comment = f" /* {member.comment} */" if member.comment else ""
    return f"    {member.c_type} {member.name};{comment}"


def _wrapped(name: str, arguments: tuple[str, ...]) -> Iterator[str]:
    """Yield a prototype in as few lines as possible."""
    line = f"void {name}({', '.join(arguments)});"
    if len(line) <= _WIDTH:
        yield line
        return
    yield f"void {name}("
    line = "   "
    for position, argument in enumerate(arguments):
        part = f" {argument}{');' if position == len(arguments) - 1 else ','}"
        if len(line) + len(part) > _WIDTH:
            yield line
            line = "   "
        line += part
    yield line
