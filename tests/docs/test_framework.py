"""The framework finds every block, and fails a runner whose page is wrong: each of these would be a hole in it."""

import pytest

from tests.support.languages import looks_like
from tests.support.page_files import python
from tests.support.shell import Shell, matches
from tests.support.snippets import Page, Snippet, snippets

PAGE = """\
# A page

```toml
size = 1
```

## In a list, and more

- An item:

  ```console
  $ echo one
  one
  ```

Indented:

    cd build

    ls

```text
a picture
```
"""


def snippet(language: str, text: str) -> Snippet:
    return Snippet("page.md", 5, "", language, text)


def page_of(*blocks: Snippet) -> Page:
    return Page("page.md", blocks)


def test_blocks_keep_their_line_numbers() -> None:
    assert snippets("page.md", PAGE) == [
        Snippet("page.md", 4, "a-page", "toml", "size = 1\n"),
        Snippet("page.md", 12, "in-a-list-and-more", "console", "$ echo one\none\n"),
        Snippet("page.md", 18, "in-a-list-and-more", "", "cd build\n\nls\n"),
        Snippet("page.md", 23, "in-a-list-and-more", "text", "a picture\n"),
    ]


def test_snippets_are_taken_in_their_order_and_language() -> None:
    page = page_of(snippet("text", "a picture\n"), snippet("toml", "a = 1\n"), snippet("text", "a form\n"))
    assert page.take("toml").text == "a = 1\n"
    page.check_that_all_were_taken()
    assert page.take("text").text == "a form\n"
    with pytest.raises(AssertionError, match="no snippet is left"):
        page.take("toml")
    with pytest.raises(AssertionError, match=r"page\.md:5 is sh, but toml is wanted"):
        page_of(snippet("sh", "ls\n")).take("toml")


def test_a_snippet_that_is_left_fails_the_runner() -> None:
    with pytest.raises(AssertionError, match=r"did not take page\.md:5"):
        page_of(snippet("text", "a picture\n"), snippet("c", "x;\n")).check_that_all_were_taken()


def test_a_frame_has_the_lines_of_the_page() -> None:
    assert snippet("c", "x;\n").within("{\n    SNIPPET\n}\n") == '{\n#line 5 "page.md"\nx;\n}\n'


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sh", "cd /\ntrue\n"),
        ("console", "$ echo one; echo two >&2\none\ntwo\n$ true\n$ echo \\\nthree\nthree\n"),
        ("console", "$ seq 9\n1\n...\n9\n"),
        ("console", "$ echo error: no; false\nerror: no\n"),
    ],
)
def test_the_shell_accepts_what_is_true(shell: Shell, language: str, text: str) -> None:
    shell.run(snippet(language, text))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sh", "false\ntrue\n"),
        ("sh", "false | true\n"),
        ("console", "$ echo one\ntwo\n"),
        ("console", "$ echo one\n"),
        ("console", "$ true\none\n"),
        ("console", "$ false\n"),
        ("console", "$ echo error: no\nerror: no\n"),
        ("console", "$ exit 0\n$ echo one\none\n"),
        ("console", "usmp-build plan\n"),
    ],
)
def test_the_shell_refuses_what_is_not(shell: Shell, language: str, text: str) -> None:
    with pytest.raises(AssertionError, match=r"page\.md:5"):
        shell.run(snippet(language, text))


def test_python_must_be_true_and_keeps_its_names() -> None:
    names = python(snippet("python", "a = 1\n"))
    assert python(snippet("python", ">>> a\n1\n>>> b = a\n"), names)["b"] == 1
    with pytest.raises(AssertionError, match=r'File "page\.md", line 5'):
        python(snippet("python", ">>> a\n2\n"), names)
    with pytest.raises(ZeroDivisionError):
        python(snippet("python", "1 / 0\n"))


def test_a_line_of_three_dots_stands_for_any_lines_but_for_no_part_of_one() -> None:
    assert matches("a\nb\nc\n", "a\n...\nc\n")
    assert matches("a\nc\n", "a\n...\nc\n")
    assert not matches("a b\n", "a ...\n")
    assert not matches("a\nb\n", "a\n")


@pytest.mark.parametrize(
    "text",
    [
        "$ ls\n",
        "cmake -S . -B build\n",
        ".venv/bin/pip install .\n",
        "x = f(y);\n",
        "#define A 1\n",
        '[pools.sram]\naccess = "rw"\n...\n',
        "...\nsize = 64\n",
        "a = 1\n",
        '{"a": 1}\n',
        "usmp_link_pools(app plan)\n",
        "import usmp_build\n...\n",
        "def plan(x):\n    ...\n",
    ],
)
def test_code_labelled_text_is_detected(text: str) -> None:
    assert looks_like(text)


@pytest.mark.parametrize("text", ["a ─ b\n", "time  =  bytes / clock\n", "net.json:9: error[T263]: there is no ...\n"])
def test_pictures_and_messages_are_no_code(text: str) -> None:
    assert not looks_like(text)
