"""Pages of `usmp-build report`, as a browser sees them: elements and texts."""

import base64
import hashlib
import re
import xml.etree.ElementTree as ET

_SVG = "{http://www.w3.org/2000/svg}"


def tree(page: str) -> ET.Element:
    """Parse a page as XML, which is stricter than HTML, and check that it can do nothing but be looked at."""
    root = ET.fromstring(page.removeprefix("<!doctype html>"))
    names = {element.tag.removeprefix(_SVG) for element in root.iter()}
    assert names.isdisjoint({"script", "iframe", "object", "embed", "link", "img", "form", "foreignObject", "a"})
    for element in root.iter():
        assert not {name for name in element.attrib if name.startswith("on") or name in ("style", "src", "href")}
    return root


def check_policy(page: str) -> None:
    """Check that the policy allows the page's own style sheet, and nothing else."""
    root = tree(page)
    policy = next(each for each in root.iter("meta") if each.get("http-equiv") == "Content-Security-Policy")
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    rules = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert policy.get("content") == rules
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def texts(root: ET.Element) -> str:
    """Return all text of a page, a line for each piece, blanks as one."""
    return "\n".join(" ".join(text.split()) for text in root.itertext() if text.strip())


def table(root: ET.Element, heading: str) -> list[list[str]]:
    """Return the cells of the table whose heading has this column first."""
    for each in root.iter("table"):
        cells = rows(each)
        if cells[0][0] == heading:
            return cells
    raise AssertionError(f"no table begins with {heading}")


def rows(element: ET.Element) -> list[list[str]]:
    """Return the cells of all rows of tables."""
    return [[" ".join("".join(cell.itertext()).split()) for cell in row] for row in element.iter("tr")]
