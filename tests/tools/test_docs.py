"""The programs of the pages about tools and policy run, and print what stands below them."""

from pathlib import Path

import pytest

from prompt.docs_page import refresh

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["tools.md", "policy.md"])
def test_page_shows_what_its_programs_print(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    assert refresh(page) == page
