"""Attachments are read from our own parts and from OpenAI's."""

from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.requesters.media import Media, read_media


@pytest.mark.parametrize(
    ("part", "media"),
    [
        (
            {"type": "image", "data": b"\x89PNG", "media_type": "image/png"},
            Media(kind="image", media_type="image/png", data="iVBORw=="),
        ),
        (
            {"type": "file", "data": "JVBERg==", "media_type": "application/pdf", "filename": "a.pdf"},
            Media(kind="file", media_type="application/pdf", data="JVBERg==", filename="a.pdf"),
        ),
        (
            {"type": "file", "data": b"RIFF", "media_type": "audio/wav"},
            Media(kind="audio", media_type="audio/wav", data="UklGRg=="),
        ),
        (
            {"type": "video", "url": "https://x.example/a.mp4?token=1"},
            Media(kind="video", media_type="video/mp4", url="https://x.example/a.mp4?token=1"),
        ),
        (
            {"type": "image", "url": "https://x.example/picture"},
            Media(kind="image", media_type="", url="https://x.example/picture"),
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9j/"}},
            Media(kind="image", media_type="image/jpeg", data="/9j/"),
        ),
        (
            {"type": "image_url", "image_url": "https://x.example/a.webp"},
            Media(kind="image", media_type="image/webp", url="https://x.example/a.webp"),
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "mp3"}},
            Media(kind="audio", media_type="audio/mpeg", data="UklGRg=="),
        ),
        (
            {
                "type": "file",
                "file": {"filename": "b.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
            },
            Media(kind="file", media_type="application/pdf", data="JVBERg==", filename="b.pdf"),
        ),
    ],
)
def test_an_attachment_is_read_from_any_shape(part: dict[str, Any], media: Media) -> None:
    assert read_media(part) == media


@pytest.mark.parametrize("part", [{"type": "text", "text": "hi"}, {"type": "file", "file": {"file_id": "f"}}])
def test_other_parts_are_not_attachments(part: dict[str, Any]) -> None:
    assert read_media(part) is None


def test_data_without_a_media_type_is_refused() -> None:
    with pytest.raises(ConfigError, match="no `media_type`"):
        read_media({"type": "image", "data": b"x"})


def test_attachment_without_data_and_address_is_refused() -> None:
    with pytest.raises(ConfigError, match="has neither `data` nor a `url`"):
        read_media({"type": "image", "data": None, "media_type": "image/png"})
