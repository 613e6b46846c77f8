"""Messages are made fit to send: parts in one shape, data as text."""

from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.requesters.content import build_messages, read_arguments, read_text, settle_attachments

PIXEL = b"\x89PNG"


def build(content: Any) -> Any:
    return build_messages([{"role": "user", "content": content}])[0]["content"]


@pytest.mark.parametrize(
    ("content", "built"),
    [
        ("text", "text"),
        (None, None),
        ({"b": 1, "a": "é"}, "a: é\nb: 1\n"),
        ([1, {"x": None}], "- 1\n- x: null\n"),
        (3.5, "3.5"),
        ([{"type": "text", "text": "hi"}], [{"type": "text", "text": "hi"}]),
    ],
)
def test_content_that_is_neither_text_nor_parts_becomes_yaml(content: Any, built: Any) -> None:
    assert build(content) == built


@pytest.mark.parametrize(
    ("part", "built"),
    [
        (
            {"type": "image_url", "image_url": "http://x/a.png"},
            {"type": "image_url", "image_url": {"url": "http://x/a.png"}},
        ),
        (
            {"type": "image", "data": PIXEL, "media_type": "image/png"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
        ),
        (
            {"type": "image", "url": "http://x/a.png"},
            {"type": "image_url", "image_url": {"url": "http://x/a.png"}},
        ),
        (
            {"type": "file", "data": "JVBERg==", "media_type": "application/pdf", "filename": "a.pdf"},
            {
                "type": "file",
                "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
            },
        ),
        (
            {"type": "file", "data": PIXEL, "media_type": "image/png"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
        ),
        (
            {"type": "audio", "data": b"abc", "media_type": "audio/mpeg"},
            {"type": "input_audio", "input_audio": {"data": "YWJj", "format": "mp3"}},
        ),
        (
            {"type": "file", "url": "data:audio/wav;base64,YWJj", "media_type": "audio/wav", "filename": "a"},
            {"type": "input_audio", "input_audio": {"data": "YWJj", "format": "wav"}},
        ),
        (
            {"type": "audio", "data": b"abc", "media_type": "audio/ogg"},
            {"type": "input_audio", "input_audio": {"data": "YWJj", "format": "ogg"}},
        ),
        ({"type": "file", "file": {"file_id": "f1"}}, {"type": "file", "file": {"file_id": "f1"}}),
    ],
)
def test_attachment_takes_the_shape_that_chat_models_take(part: Any, built: Any) -> None:
    assert build([{"type": "text", "text": "look"}, part])[1] == built


@pytest.mark.parametrize(
    ("part", "complaint"),
    [
        ({"type": "audio", "url": "http://x/a.mp3"}, "Audio parts must be inlined in `data`"),
        ({"type": "audio", "data": b"abc"}, "has `data` but no `media_type`"),
        ({"type": "image", "data": PIXEL}, "has `data` but no `media_type`"),
    ],
)
def test_attachment_that_cannot_be_sent_is_reported(part: Any, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        build([part])


def test_arguments_of_earlier_calls_become_text() -> None:
    calls = [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": {"x": "é"}}},
        {"id": "b", "type": "function", "function": {"name": "f", "arguments": "{}"}},
    ]
    message = build_messages([{"role": "assistant", "content": None, "tool_calls": calls}])[0]
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == ['{"x": "é"}', "{}"]
    assert calls[0]["function"]["arguments"] == {"x": "é"}, "the caller's message is left alone"


def test_text_of_parts_is_read_alone() -> None:
    parts = [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": "x"},
        {"type": "text", "text": "b"},
    ]
    assert [read_text(content) for content in ("plain", parts, None, {"a": 1})] == [
        "plain",
        "a\nb",
        "",
        "a: 1\n",
    ]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("", {}),
        (None, {}),
        ({"a": 1}, {"a": 1}),
        ("[1]", {"value": [1]}),
        ("{oops", {"value": "{oops"}),
        ('{"a": NaN}', {"value": '{"a": NaN}'}),
        ('{"a": "1\n2"}', {"a": "1\n2"}),
    ],
)
def test_arguments_are_an_object_whatever_the_model_wrote(written: Any, read: dict[str, Any]) -> None:
    assert read_arguments(written) == read


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('{ "q" :"a"}', '{ "q" :"a"}'),
        ('{"q": "a', '{"value": "{\\"q\\": \\"a"}'),
        ("[1]", '{"value": [1]}'),
        ("", "{}"),
        ('{"q": "1\n2"}', '{"q": "1\\n2"}'),
    ],
)
def test_arguments_that_are_not_a_json_object_are_sent_as_one(written: str, sent: str) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": written}}
    message = build_messages([{"role": "assistant", "content": None, "tool_calls": [call]}])[0]
    assert message["tool_calls"][0]["function"]["arguments"] == sent


SOUND = {"type": "file", "url": "data:audio/wav;base64,AAAA", "media_type": "audio/wav"}
QUESTION = {"role": "user", "content": "And now?"}
NOTE = {"type": "text", "text": "(An attachment of type audio/wav was here; this model cannot read it.)"}


def refuse(part: Any) -> None:
    raise ConfigError(f"No {part['type']}.")


def test_unreadable_attachment_of_an_earlier_message_becomes_a_note() -> None:
    heard = {"role": "user", "content": [SOUND, {"type": "text", "text": "what?"}]}
    settled = settle_attachments([heard, QUESTION], refuse)
    assert settled == [{"role": "user", "content": [NOTE, {"type": "text", "text": "what?"}]}, QUESTION]
    assert heard["content"][0] is SOUND


def test_unreadable_attachment_of_a_result_becomes_a_note() -> None:
    result = {"role": "tool", "tool_call_id": "c1", "content": [SOUND]}
    assert settle_attachments([QUESTION, result], refuse)[1]["content"] == [NOTE]


def test_unreadable_attachment_of_the_newest_message_is_an_error() -> None:
    with pytest.raises(ConfigError, match="No file"):
        settle_attachments([QUESTION, {"role": "user", "content": [SOUND]}], refuse)


def test_readable_attachment_of_an_earlier_message_stays() -> None:
    messages = [{"role": "user", "content": [SOUND]}, QUESTION]
    assert settle_attachments(messages, lambda part: None) == messages
