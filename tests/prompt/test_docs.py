"""The page on prompts shows what its programs print."""

from dovetail.prompt.slots import STANDARD
from prompt.docs_page import PAGE, refresh


def test_page_is_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert refresh(page) == page, "run: python tests/prompt/docs_page.py"


def test_page_describes_every_slot() -> None:
    headings = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("### ")]
    assert {name for name in STANDARD if not any(name in heading for heading in headings)} == set()
