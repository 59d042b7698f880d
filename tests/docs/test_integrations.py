"""docs/integrations.md: applications of frameworks build, against stand-ins where the page says so."""

import re
import shutil

import pytest

from tests.support.cli import RO, RW, tables
from tests.support.files import write_files
from tests.support.page_files import give_models
from tests.support.platformio import platformio
from tests.support.processes import output
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tools import need
from tests.support.tree import ROOT

POOLS = {"sram": f'{RW}region = "RAM"\n', "flash": f'{RO}region = "FLASH"\n'}
MANIFEST = tables("doorbell", POOLS, {"kws": 'path = "models/kws.tflite"\n'})
MAIN = '#include "kws.h"\nint main(void) { return kws_run(); }\n'


@runs("docs/integrations.md#zephyr")
def test_zephyr(page: Page, shell: Shell) -> None:
    need("arm-none-eabi-gcc")
    write_files(shell.folder, {"CMakeLists.txt": page.take("cmake").text, "usmp.toml": MANIFEST, "main.c": MAIN})
    give_models(shell.folder, kws="digits")
    stand_in = ROOT / "tests" / "support" / "stand_ins" / "zephyr"
    where = '-Dusmp_build_DIR="$(python -m usmp_build --cmake-dir)"'
    shell.output(f"ZEPHYR_BASE={stand_in} cmake -B build {where} && cmake --build build")
    text = (ROOT / "docs" / "integrations.md").read_text("utf-8")
    (check,) = re.findall("`(usmp-build check .*)`", text)
    assert "every pool is as planned" in shell.output(check)


@runs("docs/integrations.md#esp-idf")
def test_esp_idf(page: Page, shell: Shell) -> None:
    project = ROOT / "tests" / "support" / "stand_ins" / "esp_idf" / "tools" / "cmake" / "project.cmake"
    lists = f"cmake_minimum_required(VERSION 3.22)\ninclude({project})\nproject(firmware)\n"
    main = MAIN.replace("int main(void) {", "void app_main(void);\nvoid app_main(void) {").replace("return", "(void)")
    write_files(shell.folder, {"CMakeLists.txt": lists, "usmp.toml": MANIFEST, "main/main.c": main})
    give_models(shell.folder, kws="digits")
    shell.run(page.take("sh"))
    where = '-Dusmp_build_DIR="$(python -m usmp_build --cmake-dir)"'
    for _ in range(2):
        (shell.folder / "main" / "CMakeLists.txt").write_text(page.take("cmake").text, encoding="utf-8")
        shell.output(f"rm -rf build && cmake -B build {where} && cmake --build build && build/firmware.elf")
        shutil.rmtree(shell.folder / "components", ignore_errors=True)


@runs("docs/integrations.md#platformio-and-arduino")
def test_platformio(page: Page, shell: Shell) -> None:
    env = platformio(shell.folder / "core")
    configuration = "[env:host]\nplatform = board\n"
    write_files(shell.folder, {"platformio.ini": configuration, "usmp.toml": MANIFEST, "src/main.c": MAIN})
    give_models(shell.folder, kws="digits")
    shell.run(page.take("sh"))
    output(["pio", "run"], shell.folder, env)
    output([shell.folder / ".pio" / "build" / "host" / "app"])


@runs("docs/integrations.md#pico-sdk")
def test_pico_sdk(page: Page, shell: Shell) -> None:
    need("arm-none-eabi-gcc")
    stand_in = ROOT / "tests" / "support" / "stand_ins" / "pico_sdk" / "pico_sdk_init.cmake"
    lists, section = page.take("cmake").text, page.take("toml").text
    pools = {"sram": RW + section, "weights": 'access = "ro"\n'}
    manifest = tables("doorbell", pools, {"kws": 'path = "models/kws.tflite"\n'})
    files = {"CMakeLists.txt": lists, "pico_sdk_import.cmake": f"include({stand_in})\n", "usmp.toml": manifest}
    write_files(shell.folder, files | {"main.c": MAIN})
    give_models(shell.folder, kws="digits")
    shell.output("usmp-build generate usmp.toml --out generated && cmake -B build && cmake --build build")
    assert (shell.folder / "build" / "app.bin").stat().st_size < 32768
    symbols = shell.output("arm-none-eabi-nm -S build/app")
    assert re.search("^2000.* [bB] doorbell_sram_pool$", symbols, re.MULTILINE), symbols
    assert re.search("^1000.* [rR] kws_weights_constants$", symbols, re.MULTILINE), symbols
    shell.run(page.take("sh"))


@runs("docs/integrations.md#cmsis-toolbox")
def test_cmsis_toolbox(page: Page, shell: Shell) -> None:
    """What the layer lists is all that a program needs: it has every .c of the folder, and each include and option."""
    yaml = pytest.importorskip("yaml", reason='PyYAML is not installed; it comes with the extra "test"')
    layer = yaml.safe_load(page.take("yaml").text)["layer"]
    write_files(shell.folder, {"usmp.toml": MANIFEST.replace('region = "', '# "'), "main.c": MAIN})
    give_models(shell.folder, kws="digits")
    shell.output("usmp-build generate usmp.toml --out generated")
    files = [file["file"] for group in layer["groups"] for file in group["files"]]
    assert sorted(files) == sorted(f"generated/{path.name}" for path in (shell.folder / "generated").glob("*.c"))
    paths, options = (" ".join(f"-I{path}" for path in layer["add-path"]), " ".join(layer["misc"][0]["Link"]))
    shell.output(f"gcc -Wall -Wextra -Werror {paths} main.c {' '.join(files)} {options} -o app -lm && ./app")


@runs("docs/integrations.md#pools-from-files-of-the-project")
def test_pools_of_a_linker_script(page: Page, shell: Shell) -> None:
    give_models(shell.folder, kws="digits")
    init, script, pools = page.take("console"), page.take("ld"), page.take("toml")
    (shell.folder / "board.ld").write_text(script.text, encoding="utf-8")
    shell.run(init)
    assert pools.text in (shell.folder / "usmp.toml").read_text("utf-8")
    shell.output("usmp-build plan")
