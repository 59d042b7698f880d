"""The page of `usmp-build report` in a browser: its policy lets it look as it should, in light, dark and print."""

import struct
import zlib
from pathlib import Path

import pytest

from tests.support.cli import DIGITS, ODD_EVEN, RO, RW, call, manifest, tables
from tests.support.processes import Done, run
from tests.support.tools import need

LIGHT = {"paper": (255, 255, 255), "first model": (0x3A, 0x6F, 0xC4), "second model": (0xD9, 0x7B, 0x2B)}
DARK = {"paper": (0x14, 0x17, 0x1A), "first model": (0x6E, 0xA3, 0xF2), "second model": (0xF0, 0xA0, 0x62)}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("chromium")
    folder = tmp_path_factory.mktemp("page")
    pools = {"sram": RW + 'size = "1 KiB"\n', "flash": RO}
    usmp = manifest(folder, tables("doorbell", pools, {"digits": DIGITS, "odd_even": ODD_EVEN}))
    assert call("generate", usmp, "--out", folder / "generated").code == 0
    assert call("report", folder / "generated", "--out", folder / "report.html").code == 0
    return folder / "report.html"


def chromium(page: Path, *options: str) -> Done:
    """Open a page; fail the test if the browser finds fault with it."""
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
    done = run([*command, f"--user-data-dir={page.parent}/browser", *options, page.as_uri()], page.parent)
    assert done.code == 0, done.err
    assert "CONSOLE" not in done.err  # where it says what a policy refused, and that markup is wrong
    return done


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "colors"), [("1", LIGHT), ("0", DARK)])
def test_it_has_its_colors(page: Path, scheme: str, colors: dict[str, tuple[int, int, int]]) -> None:
    png = page.parent / f"{scheme}.png"
    chromium(page, f"--blink-settings=preferredColorScheme={scheme}", "--window-size=1240,900", f"--screenshot={png}")
    pixels = colors_of(png.read_bytes())
    assert pixels[0] == colors["paper"]
    assert set(colors.values()) <= set(pixels)


@pytest.mark.slow
def test_it_prints(page: Path) -> None:
    pdf = page.parent / "report.pdf"
    chromium(page, f"--print-to-pdf={pdf}", "--no-pdf-header-footer")
    assert pdf.read_bytes().startswith(b"%PDF")


def colors_of(png: bytes) -> list[tuple[int, int, int]]:
    """Return the pixels of a picture of 8 bits a channel, from its upper left."""
    chunks, at = {}, 8
    while at < len(png):
        (size,), kind = struct.unpack_from(">I", png, at), png[at + 4 : at + 8]
        chunks[kind] = chunks.get(kind, b"") + png[at + 8 : at + 8 + size]
        at += size + 12
    width, height, depth, color = struct.unpack_from(">IIBB", chunks[b"IHDR"])
    assert depth == 8
    channels = {2: 3, 6: 4}[color]
    data, stride = zlib.decompress(chunks[b"IDAT"]), width * channels
    above, pixels = bytearray(stride), list[tuple[int, int, int]]()
    for row in range(height):
        kind, line = data[row * (stride + 1)], bytearray(data[row * (stride + 1) + 1 : (row + 1) * (stride + 1)])
        for i in range(stride):
            left = line[i - channels] if i >= channels else 0
            corner = above[i - channels] if i >= channels else 0
            line[i] = (line[i] + _predicted(kind, left, above[i], corner)) & 255
        pixels += [(line[i], line[i + 1], line[i + 2]) for i in range(0, stride, channels)]
        above = line
    return pixels


def _predicted(kind: int, left: int, above: int, corner: int) -> int:
    if kind == 4:
        guess = left + above - corner
        return min((left, above, corner), key=lambda value: abs(guess - value))
    return (0, left, above, (left + above) // 2)[kind]
