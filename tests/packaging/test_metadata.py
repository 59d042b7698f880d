"""What an index would show of the package: complete, valid, and rendered."""

import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata

import usmp_build
from tests.support.tree import ROOT


@pytest.fixture(scope="module")
def raw(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(f"usmp_build-{usmp_build.__version__}.dist-info/METADATA")


def test_metadata_is_valid_and_complete(raw: bytes) -> None:
    found = Metadata.from_email(raw, validate=True)
    assert (found.name, str(found.version)) == ("usmp_build", usmp_build.__version__)
    assert found.summary
    assert found.author
    assert found.keywords
    assert (found.license_expression, found.license_files) == ("Apache-2.0", ["LICENSE"])
    assert str(found.requires_python) == ">=3.10"
    assert "Typing :: Typed" in (found.classifiers or [])
    assert sorted(found.provides_extra or []) == ["completion", "oracle", "test", "tvm"]
    assert found.description == (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_can_be_rendered(raw: bytes) -> None:
    markdown = pytest.importorskip("readme_renderer.markdown", reason="readme_renderer is not installed")
    found = Metadata.from_email(raw, validate=True)
    assert found.description_content_type == "text/markdown"
    page = markdown.render(found.description)
    assert page
    assert "<table>" in page
    assert ">When to use it<" in page
