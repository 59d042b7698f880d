"""The firmware that most pages speak of: model kws hears `audio` and gives `scores`, vad and vww are beside it."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.support.cli import DATA
from tests.support.host_c import built
from tests.support.processes import output
from tests.support.snippets import Snippet
from tests.support.tree import text_file

HEAD = f"""
[project]
name = "doorbell"
[models.kws]
path = "{DATA.as_posix()}/digits.tflite"
names = {{ image = "audio" }}
"""
"""The end of a manifest: another model's table, or one of `models.kws`, may follow."""

MODELS = '[models.kws]\npath = "models/kws.tflite"\n[models.vww]\npath = "models/vww.tflite"\n'
"""Tables of two models that a page names, where `give_models` puts them."""
MAIN = """
#include "kws.h"
#include "vww.h"
int main(void) { return kws_run() != USMP_OK || vww_run() != USMP_OK; }
"""
"""A program that runs both."""
HOOK = text_file("doorbell_hook.c")
"""Prints each tensor, or row of one, when it is complete."""

_GIVEN = """
#include <stdio.h>
#include <string.h>
#include "doorbell.h"
#include "kws.h"

int8_t samples[KWS_AUDIO_SIZE];
void act_on(const int8_t *scores) { printf("%d\\n", scores[0]); }
"""
"""What pages take for granted where they call kws."""


def application(*does: Snippet | str, above: Sequence[Snippet | str] = ()) -> str:
    """Return a program whose main does this, below declarations; snippets and C of the test's own."""
    parts = [_GIVEN, *above, "int main(void) {\n", *does, "return 0;\n}\n"]
    return "".join(part if isinstance(part, str) else part.as_c() for part in parts)


def program_output(generated: Path, folder: Path, main: str, *flags: str) -> str:
    """Compile a program with what was generated, run it, and return what it printed."""
    return output([built(generated, folder, main, "cc", "-O0", *flags)])


def check_answers(printed: str) -> None:
    """The scores of all pictures are those of TensorFlow Lite Micro."""
    rows = [list(map(int, line.split())) for line in re.findall(r"(?m)^1: ((?:[+-]\d{3} ?){10})$", printed)]
    with np.load(DATA / "digits.npz") as golden:
        assert rows == golden["digits_output"][:3].tolist()
