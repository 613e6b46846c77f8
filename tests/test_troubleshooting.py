"""The messages that docs/troubleshooting.md explains are those of the code."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py")))
TEXT = re.sub(r'"\s*\n\s*f?"', "", SOURCE)  # a message may be written as several literals

SYMPTOM = re.compile(r"^- (?P<symptom>.*)  $", re.MULTILINE)
MESSAGE = re.compile(r"`([^`]*[a-z]{2} [^`]*)`")
"""A text in code with several words; commands and names have one."""


def find_messages(name: str = "troubleshooting.md") -> list[str]:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    return [message for entry in SYMPTOM.finditer(page) for message in MESSAGE.findall(entry["symptom"])]


@pytest.mark.parametrize("message", find_messages())
def test_explained_message_is_in_the_code(message: str) -> None:
    # `Missing` is a literal of its own: it begins the messages about several things.
    pieces = [piece.strip(" .():;") for piece in re.split(r"…|status \d+|(?<=^Missing) ", message)]
    assert [piece for piece in pieces if piece and piece not in TEXT] == []


def test_page_explains_many_messages() -> None:
    assert len(find_messages()) > 25


def test_chinese_page_explains_the_same_messages() -> None:
    assert find_messages("troubleshooting.zh.md") == find_messages()
