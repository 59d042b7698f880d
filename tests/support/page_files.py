"""What is beside a page that a runner runs: models, C that was generated for a manifest, and Python."""

import doctest
import shutil
from pathlib import Path
from typing import Any

from tests.support.cli import DATA, call
from tests.support.snippets import Snippet


def give_models(folder: Path, **models: str) -> None:
    """Put models of ours where manifests in pages look for theirs: `kws="digits"` becomes models/kws.tflite."""
    (folder / "models").mkdir(exist_ok=True)
    for name, ours in models.items():
        shutil.copyfile(DATA / f"{ours}.tflite", folder / "models" / f"{name}.tflite")


def give_real_models(folder: Path, real_models: Path, *names: str) -> None:
    """Put real models where manifests in pages look for them."""
    (folder / "models").mkdir(exist_ok=True)
    for name in names:
        shutil.copyfile(real_models / f"{name}.tflite", folder / "models" / f"{name}.tflite")


def generated(folder: Path, manifest: str) -> Path:
    """Write usmp.toml, generate C of it, and return the folder of that."""
    (folder / "usmp.toml").write_text(manifest, encoding="utf-8")
    done = call("generate", folder / "usmp.toml", "--out", folder / "generated")
    assert done.code == 0, f"{done.err}\n{manifest}"
    return folder / "generated"


def python(snippet: Snippet, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run Python, as a doctest where it has `>>>`, with names that stay for the next snippet; return them."""
    names = {"__name__": "snippet"} if names is None else names
    if ">>> " in snippet.text:
        asked = doctest.DocTestParser().get_doctest(snippet.text, names, str(snippet), snippet.page, snippet.line - 1)
        message: list[str] = []
        done = doctest.DocTestRunner().run(asked, out=message.append, clear_globs=False)
        assert done.failed == 0, "".join(message)
        names |= asked.globs
    else:
        exec(compile("\n" * (snippet.line - 1) + snippet.text, snippet.page, "exec", dont_inherit=True), names)
    return names
