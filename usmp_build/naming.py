"""Names from models and manifests, made safe for every place they go to.

A tensor name is chosen by whoever made the model, so it may hold anything: `*/`, `${}`, newlines.
Each kind of output has its own filter here, and every template uses them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

C_KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default
    delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch
    template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual
    void volatile wchar_t while xor xor_eq
    linux main unix
    EOF BUFSIZ RAND_MAX EXIT_SUCCESS EXIT_FAILURE TRUE FALSE assert errno stdin stdout stderr I complex signals
    """.split()
)
"""Words that C99 to C23 and C++17 keep for themselves, and macros of compilers and common headers."""

_OF_HEADERS = re.compile(r"U?INT\w*|SIZE_MAX|WCHAR_\w+|WINT_\w+|SIG_\w+|PTRDIFF_\w+|\w+_t|NULL|NAN|INFINITY|HUGE_VAL\w*"
                         r"|offsetof|(usmp|USMP)(_.*)?")  # fmt: skip
"""Names of <stdint.h>, <stddef.h>, <math.h> and "usmp.h", which generated code includes."""

LINKER_KEYWORDS = frozenset(
    """
    ABSOLUTE ADDR AFTER ALIGN ALIGNOF ALIGN_WITH_INPUT ASSERT AT BEFORE BIND BLOCK CONSTANT DATA_SEGMENT_ALIGN
    DATA_SEGMENT_END DATA_SEGMENT_RELRO_END DEFINED ENTRY EXTERN FLOAT FORCE_COMMON_ALLOCATION
    FORCE_GROUP_ALLOCATION GROUP HIDDEN HLL INCLUDE INHIBIT_COMMON_ALLOCATION INPUT INSERT LD_FEATURE LENGTH
    LOADADDR LOG2CEIL MAP MAX MEMORY MIN NEXT NOCROSSREFS NOCROSSREFS_TO NOFLOAT ONLY_IF_RO ONLY_IF_RW ORIGIN OUTPUT
    OUTPUT_ARCH OUTPUT_FORMAT OVERLAY PHDRS PROVIDE PROVIDE_HIDDEN REGION_ALIAS SEARCH_DIR SECTIONS SEGMENT_START
    SIZEOF SIZEOF_HEADERS SPECIAL STARTUP SUBALIGN SYSLIB TARGET VERSION l len o org
    """.split()
)
"""Words of GNU ld's language that cannot name a region."""

LINKER_SECTIONS = frozenset(
    """
    COMMON .text .rodata .data .bss .init .fini .init_array .fini_array .preinit_array .ctors .dtors .tdata .tbss
    .sdata .sdata2 .sbss .sbss2 .got .got.plt .plt .eh_frame .eh_frame_hdr .gcc_except_table .ARM.exidx .ARM.extab
    .ARM.attributes .riscv.attributes .comment .symtab .strtab .shstrtab .isr_vector .vectors .stack .heap
    """.split()
)
"""Sections in which compilers, libraries and start-up code have their things: linker scripts place them as a whole."""


def is_reserved(name: str) -> bool:
    """Tell whether an identifier means something else to the compiler or to generated code."""
    return name in C_KEYWORDS or _OF_HEADERS.fullmatch(name) is not None


def c_identifier(name: str, longest: int = 48) -> str:
    """Turn any text into a C identifier.

    >>> c_identifier("conv2d/Relu;bn:0"), c_identifier("3x"), c_identifier("int"), c_identifier("日本")
    ('conv2d_Relu_bn_0', 'n3x', 'int_', 'n')
    """
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:longest].rstrip("_")
    if not plain or not plain[0].isalpha():
        plain = "n" + plain
    return plain + "_" if is_reserved(plain) else plain


def c_member(name: str) -> str:
    """Turn any text into the name of a member or parameter; names all in capitals are left to macros.

    >>> c_member("weights/0"), c_member("W")
    ('weights_0', 'W_')
    """
    plain = c_identifier(name)
    return f"{plain}_" if plain.isupper() else plain


def short_name(name: str) -> str:
    """Shorten the name that a converter gave a tensor to the part that people recognise.

    Fused operators carry all their names (`a/conv/Relu;a/bn/add;...`): the first one says what the tensor is.

    >>> short_name("functional_1/activation/Relu;functional_1/batch_normalization/add")
    'activation/Relu'
    """
    first = next((part for part in name.split(";") if part.strip()), name)
    return "/".join(first.strip().split("/")[-2:])


def matches(pattern: str, name: str) -> bool:
    """Tell whether a name follows a pattern, in which `*` stands for anything.

    >>> matches("*CONV_2D", "DEPTHWISE_CONV_2D"), matches("CONV_2D", "DEPTHWISE_CONV_2D"), matches("a[0]*", "a[0]/b")
    (True, False, True)
    """
    first, *others = pattern.split("*")
    if not others:
        return name == first
    last = others.pop()
    at, end = len(first), len(name) - len(last)
    if at > end or not name.startswith(first) or not name.endswith(last):
        return False
    for part in others:  # the first place where it fits leaves most room for the rest
        start = name.find(part, at, end)
        if start < 0:
            return False
        at = start + len(part)
    return True


def unique(names: Iterable[str]) -> list[str]:
    """Number repeated names from 2 on, so that each is unlike all others.

    >>> unique(["a", "b", "a", "a_2"])
    ['a', 'b', 'a_2', 'a_2_2']
    """
    taken: set[str] = set()
    counts: dict[str, int] = {}
    result = []
    for name in names:
        candidate = name
        while candidate in taken:
            counts[name] = counts.get(name, 1) + 1
            candidate = f"{name}_{counts[name]}"
        taken.add(candidate)
        result.append(candidate)
    return result


def c_comment(text: str) -> str:
    """Make text safe inside `/* ... */`: no end of comment, no nested one, no trigraph, no line splice."""
    return re.sub(r"[*?/\\](?=[*?/\\])", r"\g<0> ", _ascii(text)).replace("\\", "|")


def c_string(text: str) -> str:
    """Make text safe inside a C string literal (without its quotes)."""
    return re.sub(r'["\\?]', r"\\\g<0>", _ascii(text))


def linker_name(text: str) -> str:
    """Make text safe as a section or symbol name in a linker script."""
    return re.sub(r"[^A-Za-z0-9_.]", "_", text)


def cmake_string(text: str) -> str:
    """Make text safe inside a quoted CMake argument, also where it becomes an element of a list."""
    return re.sub(r'["\\$;@]', r"\\\g<0>", _ascii(text))


def hash_comment(text: str) -> str:
    r"""Make text safe in a comment from `#` to the end of the line, and in a docstring of Starlark.

    A backslash at the end would make the next line of a makefile a comment, too.

    >>> print(hash_comment('my "usmp".toml\\'), hash_comment("a\nb"))
    my 'usmp'.toml| a?b
    """
    return _ascii(text).replace("\\", "|").replace('"', "'")


def make_value(text: str) -> str:
    r"""Make text safe as the value of a variable of GNU Make, from `:=` to the end of the line.

    Backslashes count only before `#` and at the end; `$()` is nothing.

    >>> print(make_value("$(shell rm) #1"), make_value(" a\\#"), make_value("b\\"))
    $$(shell rm) \#1 $() a\\\# b\$()
    """
    escaped = re.sub(r"(\\*)#", r"\1\1\\#", _ascii(text).replace("$", "$$"))
    return f"{'$()' * escaped.startswith(' ')}{escaped}{'$()' * escaped.endswith(chr(92))}"


def starlark_string(text: str) -> str:
    r"""Make text safe inside a string in double quotes of a BUILD or .bzl file.

    >>> print(starlark_string('"]) + ["\\'))
    \"]) + [\"\\
    """
    return re.sub(r'["\\]', r"\\\g<0>", _ascii(text))


def make_path(text: str) -> str:
    """Write a path for a Make rule, as depfiles need it (GNU Make's escapes, which Ninja reads too)."""
    return text.replace("\\", "/").replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


def plan_files(project: str, pool_bytes: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of the generated files that a plan has once: they follow from names in the manifest alone.

    `pool_bytes` are the names of the pools whose bytes are files: constant pools of the application.
    """
    return (
        "BUILD.bazel",
        "CMakeLists.txt",
        "library.json",
        "library.properties",
        "meson.build",
        "plan.json",
        "usmp-targets.cmake",
        "usmp.bzl",
        "usmp.h",
        "usmp.mk",
        "usmp_regions.h",
        f"{project}.h",
        f"{project}.ld",
        f"{project}_copy_table.ld",
        f"{project}_guard.h",
        f"{project}_kernels.c",
        f"{project}_kernels.h",
        f"{project}_pools.c",
        f"{project}_shared_constants.h",
        *(file for pool in pool_bytes for file in pool_bytes_files(project, pool)),
    )


def pool_bytes_files(project: str, pool: str) -> tuple[str, str]:
    """Return the names of the files with the bytes of a constant pool of the application: as they are, and for C."""
    return f"{project}_{pool}.bin", f"{project}_{pool}.inc"


def model_files(model: str) -> tuple[str, ...]:
    """Return the names of the generated files of a model: they follow from its name alone."""
    return (f"{model}.c", f"{model}.h", f"{model}_constants.h")


def pool_object(project: str, pool: str) -> str:
    """Return the C name of the array of a workspace pool."""
    return f"{project}_{pool}_pool"


def constants_object(owner: str, pool: str) -> str:
    """Return the C name of constants in a pool; the owner is a model, or `<project>_shared`."""
    return f"{owner}_{pool}_constants"


def pool_symbol(pool: str, part: str) -> str:
    """Return what the linker fragment calls `start`, `end`, `size` or `load` (the address in the image) of a pool."""
    return f"__usmp_{pool}_{part}"


def region_symbols(pool: str, load: bool = False) -> tuple[str, str]:
    """Return what the linker fragment calls origin and length of the region that a pool is in, or is loaded from.

    The dot keeps them apart from the symbols of all pools: a pool may be called `sram_region`, but not `sram.region`.
    """
    region = f"__usmp_{pool}.{'load_region' if load else 'region'}"
    return f"{region}_start", f"{region}_size"


def included_symbol(project: str) -> str:
    """Return the symbol that only the linker fragment of a project defines: linkers that miss it print what to do.

    >>> included_symbol("doorbell")
    '__usmp.INCLUDE_doorbell.ld'
    """
    return f"__usmp.INCLUDE_{project}.ld"


def _ascii(text: str) -> str:
    """Printable ASCII only; all else becomes `?`: generated files are the same bytes in every locale."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)
