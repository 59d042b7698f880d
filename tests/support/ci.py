"""What CI does that our pages tell readers to do: it installs packages, and runs README's commands."""

import re

from tests.support.tree import ROOT

_SCRIPT = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def installing() -> set[str]:
    """The commands of the README that set everything up, which CI runs."""
    assert "mapfile -t commands < <(sed -n '/^python3 -m venv /p' README.md)" in _SCRIPT
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return commands("\n".join(line for line in readme.splitlines() if line.startswith("python3 -m venv ")))


def packages() -> set[str]:
    """The packages that CI installs."""
    installed = re.findall(r"apt-get install (?:-\S+ |\\\n)*([^>]*)>", _SCRIPT)
    return {package for names in installed for package in names.replace("\\", "").split()}


def commands(text: str) -> set[str]:
    """Each command of a shell, without the option that makes it quiet."""
    return {part.strip().replace(" -q", "") for line in text.splitlines() for part in line.split("&&")}
