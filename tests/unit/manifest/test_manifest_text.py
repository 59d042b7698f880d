"""What may be wrong with the text before any word of it is looked at."""

import pytest
import tomli

from usmp_build.errors import Diagnostic, ManifestError, Span
from usmp_build.manifest import load, resolve
from usmp_build.naming import LINKER_SECTIONS

GOOD = b'[project]\nname = "doorbell"\n\n[models.kws]\npath = "kws.tflite"\n'


def refused(text: bytes | str) -> Diagnostic:
    with pytest.raises(ManifestError) as caught:
        load(text if isinstance(text, bytes) else text.encode(), "usmp.toml")
    (diagnostic,) = caught.value.diagnostics
    assert isinstance(diagnostic.place, Span)
    assert diagnostic.help
    return diagnostic


def where(diagnostic: Diagnostic) -> tuple[str, int, int, int]:
    assert isinstance(diagnostic.place, Span)
    return (diagnostic.code, diagnostic.place.line, diagnostic.place.column, diagnostic.place.length)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (GOOD.decode().encode("utf-16"), ("M102", 1, 1, 1)),
        (b"\xfe\xff" + GOOD, ("M102", 1, 1, 1)),
        (GOOD + b"# \xff", ("M102", 6, 3, 1)),
        (b"a = 1\r\n# \xc3\xa9 \xe9\r\n", ("M102", 2, 5, 1)),
        (GOOD + b"\xe6\x97", ("M102", 6, 1, 1)),
        (b"\0" * 10, ("M103", 1, 1, 10)),
        (b'a = "\0"', ("M103", 1, 6, 1)),
        (b"a = 1\rb = 2", ("M103", 1, 6, 6)),
        (GOOD + b"x" * (1 << 20), ("M121", 1, 1, 1)),
        (b"a = " + b"[" * 100_000, ("M121", 1, 37, 1)),
        (b"a = " + b"{a=" * 1000, ("M121", 1, 101, 1)),
        (b"a" + b".a" * 100_000 + b" = 1", ("M121", 1, 66, 1)),
        (b"[a" + b" . a" * 100_000 + b"]", ("M121", 1, 132, 1)),
        (b"a = 1" + b"0" * 5000, ("M121", 1, 5, 5001)),
        (b"a = 0x" + b"f" * 5000, ("M121", 1, 5, 5002)),
        (b"a = '" + b"x" * 5000, ("M103", 1, 5006, 1)),
        (b'a = """\n\n', ("M103", 1, 8, 1)),
        (b"[a]\n[a]\n", ("M103", 2, 1, 3)),
        (b"a = {b = 1}\na.c = 2 # twice", ("M103", 2, 1, 7)),
        (b"a = 2024-02-30 # never", ("M103", 1, 5, 10)),
        (b'\xc3\xa9 = "a"', ("M103", 1, 1, 1)),
        (b"[a\n", ("M103", 1, 3, 1)),
        (b"a = {b = 1 c = 2}", ("M103", 1, 12, 1)),
        (b"name: doorbell", ("M103", 1, 5, 1)),
        (b'a = "\\uD800"', ("M103", 1, 12, 1)),
    ],
)
def test_one_clear_error(text: bytes, place: tuple[str, int, int, int]) -> None:
    diagnostic = refused(text)
    assert where(diagnostic) == place
    assert len(str(diagnostic)) < 1000


def test_dots_and_brackets_in_strings_and_comments_do_not_count() -> None:
    text = GOOD + b'# [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n[plan]\noptions = { a = "' + b".[" * 99 + b'" }\n'
    text += b"""b = '''""" + b"{.\n" * 99 + b"'''\n"
    with pytest.raises(ManifestError, match='unknown key "b"'):
        load(text, "usmp.toml")
    load(text[: text.index(b"b = '''")], "usmp.toml")


def test_a_string_that_does_not_end_is_no_deep_nesting() -> None:
    assert where(refused('path = "' + "../" * 40))[0] == "M103"


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_line_endings_do_not_move_places(ending: bytes) -> None:
    text = b'[project]\nname = "door bell"\n'.replace(b"\n", ending)
    diagnostic = refused(text)
    assert where(diagnostic) == ("M109", 2, 8, 11)
    assert str(diagnostic).splitlines()[1] == '    2 | name = "door bell"'


def test_columns_count_characters() -> None:
    assert where(refused('project = { name = "日本" } # é'))[1:] == (1, 20, 4)
    assert where(refused('plan.options."日本" = 1\nproject = { name = "a" }\nplan."é".b = 1'))[1:] == (3, 6, 3)


def test_tabs_and_control_characters_keep_carets_in_line() -> None:
    text = 'project = {\tname = "a\tb" } # \u202e\u200b'
    lines = str(refused(text)).splitlines()
    assert lines[2].index("^") == lines[1].index('"a')
    assert lines[2].count("^") == 5
    assert "\u202e" not in lines[1]


def test_names_do_not_break_lines() -> None:
    for text in (
        '"a\\nb" = 1',
        '[project]\nname = "a\\nb"',
        '[pools."a\\nb"]\nq = 1',
        '["x\\u001b[31m"]',
        'pools.a.size = "\\n"',
    ):
        with pytest.raises(ManifestError) as caught:
            load(text.encode(), "usmp.toml")
        for diagnostic in caught.value.diagnostics:
            assert "\n" not in diagnostic.message + diagnostic.help
            assert "\x1b" not in str(diagnostic)


def test_long_lines_are_cut_and_carets_stay_right() -> None:
    near = refused('project = { name = "door bell" } # ' + "x" * 100_000)
    assert str(near).splitlines()[1].endswith("x…")
    assert len(str(near)) < 600
    far = refused("# \n" + "pools = { " + " " * 1000 + "} \n" + '"' + "k" * 100_000 + '" = 1\nproject = { name = "a" }')
    assert where(far) == ("M105", 3, 1, 100_002)
    assert len(str(far)) < 800
    beyond = refused("concurrent = [" + " " * 500 + '3]\nproject = { name = "a" }')
    assert where(beyond) == ("M107", 1, 515, 1)
    assert "^" not in str(beyond)


def test_an_error_that_tomli_does_not_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> None:
        raise ValueError("Something new")

    monkeypatch.setattr(tomli, "loads", fail)
    diagnostic = refused(b"a = 1\n\n")
    assert where(diagnostic) == ("M103", 1, 6, 1)
    assert diagnostic.message == "not TOML: something new"


def test_the_empty_manifest() -> None:
    assert refused(b"").message == "there is no [project]"


def test_not_too_many_problems_at_once() -> None:
    with pytest.raises(ManifestError) as caught:
        load("".join(f"k{n} = 1\n" for n in range(5000)).encode(), "usmp.toml")
    assert len(caught.value.diagnostics) == 100


def test_a_good_manifest() -> None:
    assert resolve(load(GOOD, "usmp.toml")).project == "doorbell"


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert load(b"\xef\xbb\xbf" + GOOD, "usmp.toml") == load(GOOD, "usmp.toml")
    assert where(refused(b"\xef\xbb\xbf[a"))[:3] == where(refused(b"[a"))[:3] == ("M103", 1, 3)


def with_section(name: str) -> bytes:
    return GOOD + f'[pools.sram]\naccess = "rw"\nsection = "{name}"\n'.encode()


@pytest.mark.parametrize("name", [".bss.work", ".dtcm_bss", ".noinit", "ram2", ".text_of_mine", ".x" * 127])
def test_sections_that_are_ones_own(name: str) -> None:
    assert resolve(load(with_section(name), "usmp.toml")).pools[0].section == name


@pytest.mark.parametrize("name", [*sorted(LINKER_SECTIONS), ".s" * 128])
def test_sections_that_are_not(name: str) -> None:
    assert where(refused(with_section(name)))[:3] == ("M115" if len(name) > 255 else "M141", 8, 11)
