"""Sizes of messages are estimated without mistaking attachments for text."""

import base64
from typing import Any

import pytest

from dovetail.events.call import ToolSpec
from dovetail.loop.tokens import estimate_message, estimate_text, estimate_tokens, estimate_tools, fits

PICTURE = bytes(900_000)
ENCODED = base64.b64encode(PICTURE).decode()


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "data": PICTURE, "media_type": "image/png"},
        {"type": "image", "data": ENCODED, "media_type": "image/png"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{ENCODED}"}},
        {"type": "image", "url": "https://example.org/a.png"},
    ],
)
def test_image_counts_as_an_image_however_it_is_written(part: object) -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, part]}
    assert 1_000 < estimate_tokens([message]) < 3_000


def test_file_counts_by_its_size_and_not_as_text() -> None:
    pdf = {"type": "file", "data": ENCODED, "media_type": "application/pdf"}
    openai = {
        "type": "file",
        "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{ENCODED}"},
    }
    for part in (pdf, openai):
        assert 10_000 < estimate_tokens([{"role": "user", "content": [part]}]) < 40_000


def test_text_in_parts_counts_as_text() -> None:
    plain = estimate_tokens([{"role": "user", "content": "a" * 3_000}])
    parted = estimate_tokens([{"role": "user", "content": [{"type": "text", "text": "a" * 3_000}]}])
    assert plain == pytest.approx(parted, abs=20)


def test_characters_outside_ascii_count_more() -> None:
    latin = estimate_tokens([{"role": "user", "content": "a" * 300}])
    chinese = estimate_tokens([{"role": "user", "content": "木" * 300}])
    assert chinese > 2 * latin


def test_room_for_an_answer_is_left() -> None:
    message = {"role": "user", "content": "a" * 3_000}
    assert fits([message], 1_500)
    assert not fits([message], 1_200)


def test_tools_take_room_too() -> None:
    tool = ToolSpec(name="add", description="adds " * 100, parameters={"type": "object"})
    assert 150 < estimate_tools([tool]) < 250


def test_sealed_reasoning_takes_no_room_but_its_text_does() -> None:
    def estimate(source: str, data: dict[str, Any]) -> int:
        part = {"source": source, "text": 0, "calls": 0, "data": data}
        return estimate_message({"role": "assistant", "content": "Yes.", "provider_parts": [part]})

    blob, text = "QUJD" * 3000, "It may be so. " * 300
    sealed = {"type": "reasoning", "id": "rs_1", "encrypted_content": blob, "summary": []}
    assert estimate("openai-responses", sealed) < 30
    thinking = {"type": "thinking", "thinking": text, "signature": blob}
    assert estimate_text(text) <= estimate("anthropic", thinking) < estimate_text(text) + 30
    found = {"type": "web_search_tool_result", "content": [{"encrypted_content": blob}]}
    assert estimate("anthropic", found) > 1000
