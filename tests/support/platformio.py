"""PlatformIO without a network: with SCons from the environment of `pio`, and a stand-in for platforms of chips."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.support.processes import environment, output
from tests.support.tools import need
from tests.support.tree import ROOT

_PLATFORM = ROOT / "tests" / "support" / "stand_ins" / "platformio"
_VERSION = "from platformio.dependencies import *; print(get_core_dependencies()['tool-scons'].lstrip('~^'))"


def platformio(folder: Path) -> Mapping[str, str]:
    """Make PlatformIO's own folder, with `platform = board`; return an environment to run `pio` in.

    Skips the test where `pio` is missing.
    """
    need("pio")
    python = Path(str(shutil.which("pio"))).resolve().with_name("python")
    scons = {"name": "tool-scons", "version": output([python, "-c", _VERSION]).strip()}
    package = folder / "packages" / "tool-scons"
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps(scons), encoding="utf-8")
    owned = {"type": "tool", "spec": {"owner": "platformio", "name": "tool-scons"}} | scons
    (package / ".piopm").write_text(json.dumps(owned), encoding="utf-8")
    (package / "scons.py").write_text("from SCons.Script import main\n\nmain()\n", encoding="utf-8")
    shutil.copytree(_PLATFORM, folder / "platforms" / "board")
    settings = {"CORE_DIR": str(folder), "NO_ANSI": "true", "SETTING_ENABLE_TELEMETRY": "no"}
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    return environment("PYTHON", "PLATFORMIO_") | nowhere | {f"PLATFORMIO_{name}": it for name, it in settings.items()}
