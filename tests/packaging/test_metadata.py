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
    metadata = Metadata.from_email(raw, validate=True)
    assert (metadata.name, str(metadata.version)) == ("usmp_build", usmp_build.__version__)
    assert metadata.summary
    assert metadata.author
    assert metadata.keywords
    assert (metadata.license_expression, metadata.license_files) == ("Apache-2.0", ["LICENSE"])
    assert str(metadata.requires_python) == ">=3.10"
    assert "Typing :: Typed" in (metadata.classifiers or [])
    assert sorted(metadata.provides_extra or []) == ["completion", "oracle", "test", "tvm"]
    assert metadata.description == (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_can_be_rendered(raw: bytes) -> None:
    markdown = pytest.importorskip("readme_renderer.markdown", reason="readme_renderer is not installed")
    metadata = Metadata.from_email(raw, validate=True)
    assert metadata.description_content_type == "text/markdown"
    page = markdown.render(metadata.description)
    assert page
    assert "<table>" in page
    assert ">When to use it<" in page
