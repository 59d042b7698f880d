"""examples/cascade on the boards: what goes from one model to the other is intact while a third one runs."""

import re
from pathlib import Path

from tests.support.firmware import Board, build, on, run
from tests.support.tree import ROOT

CASCADE = ROOT / "examples" / "cascade"
CHANGES = {
    '"watcher"': '"firmware"',
    'size = "1 KiB"': 'size = 512\nregion = "DTCM"',
    '"ro"': '"ro"\nregion = "FLASH"',
}
MAIN = """
#include "host.h"

int main(void)
{
    const int exact = watch();

    host_print_number((unsigned)exact);
    host_print(" answers are exact\\n");
    return exact == PICTURES * QUESTIONS ? 0 : 1;
}
"""


@on("m7")
def test_three_questions_about_each_picture(board: Board, tmp_path: Path, find: str) -> None:
    """The pool is as large as the largest model alone: the others have nothing of their own."""
    for file in ("watch.h", "expected.h"):
        (tmp_path / file).write_bytes((CASCADE / file).read_bytes())
    manifest, main = tmp_path / "usmp.toml", tmp_path / "main.c"
    main.write_text((CASCADE / "watch.c").read_text("utf-8") + MAIN, encoding="utf-8")
    text = (CASCADE / "usmp.toml").read_text("utf-8")
    for old, new in CHANGES.items():
        assert old in text
        text = text.replace(old, new)
    text = re.sub(r'path = "(\w+\.tflite)"', lambda m: f'path = "{(CASCADE / m[1]).as_posix()}"', text)
    manifest.write_text(text, encoding="utf-8")
    elf = build(board, tmp_path / "build", manifest=manifest, main=main, find=find)
    done = run(board, elf, tmp_path)
    assert done.out == "6 answers are exact\n"
    assert done.code == 0
