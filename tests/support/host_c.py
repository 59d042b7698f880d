"""Programs of this machine, of generated C and a main of the test's."""

from pathlib import Path

from tests.support.processes import output, run
from tests.support.tools import need

STRICT = "-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"
"""What all C must pass that others compile with their own flags."""
NO_SECTIONS = "-DUSMP_SECTION(name)="
COMPILERS = [
    ("gcc", "-std=c99"),
    ("gcc", "-std=c11"),
    ("g++", "-std=c++17"),
    ("clang", "-std=c99"),
    ("clang", "-std=c11"),
    ("clang++", "-std=c++17"),
]
"""The compilers and standards that generated C is for."""
HOSTILE = [
    "*/ int evil(void) { return 1; } /*",
    '"); system("true"); //',
    "a\\\nb",
    "??/",
    "#define int char",
    "${evil}; $(evil)",
    "int",
    "INT8_MAX",
    "kws\u202egnp.c",
    "",
    "a/b;c:0",
    "日本語",
    "x" * 5000,
]
"""Names that would break out of a comment, a string or a line, or are words of C."""


def built(generated: Path, folder: Path, main: str, compiler: str = "cc", *flags: str) -> Path:
    """Compile all generated C in `generated`, and `main`, to a program in `folder`."""
    need(compiler)
    source = folder / "main.c"
    source.write_text(main, encoding="utf-8")
    program = folder / "program"
    files = [*sorted(generated.glob("*.c")), source]
    command = [compiler, "-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", NO_SECTIONS, f"-I{generated}", *flags]
    output([*command, *files, "-o", program, "-lm"])
    return program


def compile_folder(folder: Path, compiler: str, standard: str, *extra: str, mentioning: str = "") -> None:
    """Compile each C file of a folder by itself, with all warnings; fail with what the compiler says.

    With `mentioning`, only files that contain this word: others are the same whether its macro is defined or not.
    """
    need(compiler)
    sources = [path for path in sorted(folder.glob("*.c")) if mentioning in path.read_text(encoding="utf-8")]
    assert sources
    for source in sources:
        language = ["-x", "c++"] if "++" in compiler else []
        command = [compiler, standard, *STRICT.split(), "-O2", *extra, *language, "-c", source.name, "-o", "/dev/null"]
        done = run(command, folder)
        assert done.code == 0, f"{source.name}\n{done.err}"
