"""Pictures in results reach the model as pictures, never as base64 in a text."""

from typing import Any

import pytest

from dovetail.tools.pictures import MOST_PICTURES
from dovetail.tools.result import make_result

PIXEL = "data:image/png;base64," + "iVBORw0KGgo=" * 400
DESCRIPTION = "(A picture, image/png, 3 kB. The user sees it.)"


def read(value: Any) -> tuple[str, int]:
    """Return what the model reads of a value, and how many pictures it gets."""
    content = make_result(value).llm_content
    if isinstance(content, str):
        return content, 0
    text, *pictures = content
    assert all(part["image_url"]["url"] == PIXEL for part in pictures)
    return text["text"], len(pictures)


def test_a_picture_is_described_and_shown() -> None:
    assert read(PIXEL) == (DESCRIPTION, 1)
    assert make_result(PIXEL).data == PIXEL


def test_pictures_inside_of_data_are_described_at_their_place() -> None:
    text, pictures = read({"title": "Oak", "plot": PIXEL, "more": [PIXEL] * 5})
    assert pictures == MOST_PICTURES
    assert text.startswith('{"title": "Oak", "plot": "(A picture, image/png')
    assert "base64" not in text


@pytest.mark.parametrize(
    ("url", "described"),
    [
        ("data:image/svg+xml,<svg/>", "(A picture, image/svg+xml, 1 kB. The user sees it.)"),
        ("data:image/bmp;base64,AAAA", "(A picture, image/bmp, 1 kB. The user sees it.)"),
        ("data:image/png;base64," + "A" * 6_000_000, "(A picture, image/png, 4500 kB. The user sees it.)"),
    ],
)
def test_a_picture_that_models_do_not_take_is_only_described(url: str, described: str) -> None:
    assert read(url) == (described, 0)


def test_a_text_about_pictures_stays_as_it_is() -> None:
    assert read("Write data:image/png;base64, before it.") == ("Write data:image/png;base64, before it.", 0)
