"""Files in place of a manifest: each is called what it is, with what reads it."""

import pytest

from usmp_build.errors import ManifestError
from usmp_build.manifest.load import load

SCRIPT = b"/* board */\nMEMORY\n{\n FLASH (rx) : ORIGIN = 0, LENGTH = 1M\n}\n"
MODEL = b"\x1c\0\0\0TFL3" + bytes(8)


@pytest.mark.parametrize(
    ("file", "data", "name", "way_out"),
    [
        ("fw.ld", b"INCLUDE memory.ld", "a linker script", "init MODEL... --from-linker-script fw.ld"),
        ("fw.txt", SCRIPT, "a linker script", "init MODEL... --from-linker-script fw.txt"),
        ("fw.lds", b"SECTIONS { }", "a linker script", "init MODEL... --from-linker-script fw.lds"),
        ("zephyr.dts", b"/ { };", "a devicetree", "init MODEL... --from-devicetree zephyr.dts"),
        ("tree", b"/dts-v1/;\n/ { };", "a devicetree", "init MODEL... --from-devicetree tree"),
        ("app", b"\x7fELF\x01\x01", "a linked image", "check PLAN --elf app"),
        (
            "kws.bin",
            MODEL,
            "a TensorFlow Lite model",
            "give it a name that ends in .tflite: then it is planned without a manifest",
        ),
    ],
)
def test_a_file_that_is_no_manifest(file: str, data: bytes, name: str, way_out: str) -> None:
    with pytest.raises(ManifestError) as refused:
        load(data, file)
    message = str(refused.value.diagnostics[0])
    assert message.startswith(f"{file}:1:1: error[M144]: this is {name}, not a manifest\n")
    assert way_out in message


def test_a_manifest_may_speak_of_linker_scripts() -> None:
    text = b'# MEMORY {\n[project]\nname = "SECTIONS"\n[pools.sram]\naccess = "rw"\nregion = "MEMORY1"\n'
    assert load(text, "usmp.toml").project.name == "SECTIONS"
