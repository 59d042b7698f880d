"""What emitters see of a program: its functions, and what its main does.

As in `layout`, every name is made: fields are text, numbers and tuples.
"""

from __future__ import annotations

from usmp_build.frozen import frozen


@frozen
class ParameterRow:
    """A pointer that a function of the application takes."""

    element: str
    """What it points to: `usmp_i32`, or `void`."""
    name: str
    is_const: bool
    """Whether the function leaves that as it is."""
    is_table: bool = False
    """Whether it is a table of rows, in memory of pages."""

    @property
    def c_type(self) -> str:
        """`const usmp_i32 *`; of a table `const usmp_i32 *const *`."""
        return f"{'const ' if self.is_const else ''}{self.element} *{'const *' if self.is_table else ''}"

    @property
    def declaration(self) -> str:
        """As C writes it."""
        return f"{self.c_type}{self.name}"


@frozen
class MemberRow:
    """A buffer or constant of a function: a member of the struct that it asks for."""

    c_type: str
    """As of a parameter."""
    name: str
    comment: str
    expression: str
    """Where it is, as C in the model's file."""
    copy_stride: tuple[str, int] | None = None
    """With one copy for each worker: a macro, and the bytes, or rows, from each to the next."""


@frozen
class FunctionCode:
    """A function of a program, which the application supplies, unless its C is generated."""

    name: str
    """`kws_conv`; its buffers are `struct kws_conv_buffers`, and `kws_conv_map_buffers` returns them."""
    comment: str
    """What the program calls it."""
    parameters: tuple[ParameterRow, ...]
    members: tuple[MemberRow, ...]
    on_demand: tuple[str, ...]
    """What it gets from the application's allocator, for comments."""
    body: str = ""
    """Its C, which names its parameters and members; empty: the application supplies it."""

    @property
    def width(self) -> int:
        """Columns of the longest declaration of a member."""
        return max((len(f"{m.c_type}{m.name};") for m in self.members), default=0)

    @property
    def names(self) -> tuple[str, ...]:
        """All that is declared for it where others see it."""
        if self.body:
            return (self.name,)
        strides = tuple(member.copy_stride[0] for member in self.members if member.copy_stride)
        member_names = (f"{self.name}_buffers", f"{self.name}_map_buffers") if self.members else ()
        return (self.name, *member_names, *strides)


@frozen
class BodyLine:
    """A line of what main does: a call, or C such as where a loop begins."""

    depth: int
    text: str = ""
    function: str = ""
    """What is called."""
    arguments: tuple[str, ...] = ()
