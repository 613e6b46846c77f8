"""Conversations become contents: roles alternate, results follow their calls, parts of Gemini go back."""

from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.events.call import ChatMessage
from dovetail.requesters.google.contents import SKIP_SIGNATURE, ContentWriter, read_version

GEMINI_2, GEMINI_3 = "gemini-2.5-flash", "gemini-3-pro-preview"


def write(*messages: ChatMessage, generation: int = 2) -> list[dict[str, Any]]:
    return ContentWriter(generation).write(messages)


def call(call_id: str, name: str = "add", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def own(text: int, calls: int, source: str = "google", **data: Any) -> dict[str, Any]:
    return {"source": source, "text": text, "calls": calls, "data": {"model": GEMINI_3, **data}}


def answer(text: str | None, *calls: Any, parts: list[Any] | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": list(calls), "provider_parts": parts or []}


def result(call_id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def test_messages_of_one_role_become_one_content() -> None:
    assert write(
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
        answer("c"),
        answer(""),
        {"role": "user", "content": {"k": 1}},
    ) == [
        {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
        {"role": "model", "parts": [{"text": "c"}]},
        {"role": "user", "parts": [{"text": "k: 1\n"}]},
    ]


def test_results_stand_in_one_content_in_the_order_of_their_calls() -> None:
    contents = write(
        {"role": "user", "content": "q"},
        answer("I look.", call("c1", arguments='{"a": 1}'), call("c2", "find")),
        result("c2", "second"),
        result("c1", "first"),
        {"role": "user", "content": "hurry"},
    )

    assert contents[1]["parts"] == [
        {"text": "I look."},
        {"functionCall": {"id": "c1", "name": "add", "args": {"a": 1}}},
        {"functionCall": {"id": "c2", "name": "find", "args": {}}},
    ]
    assert contents[2]["parts"] == [
        {"functionResponse": {"id": "c1", "name": "add", "response": {"output": "first"}}},
        {"functionResponse": {"id": "c2", "name": "find", "response": {"output": "second"}}},
        {"text": "hurry"},
    ]


def test_arguments_that_are_not_an_object_are_wrapped() -> None:
    parts = write(answer(None, call("c1", arguments="[1")))[0]["parts"]

    assert parts[0]["functionCall"]["args"] == {"value": "[1"}


def test_a_result_without_its_call_becomes_text() -> None:
    assert write(result("gone", "42")) == [{"role": "user", "parts": [{"text": "42"}]}]


def test_a_signature_goes_back_on_the_call_that_it_came_with() -> None:
    message = answer(
        "Hm.",
        call("c1"),
        call("c2"),
        parts=[own(3, 0, kind="call", fields={"thoughtSignature": "s1"})],
    )

    assert write(message, generation=3)[0]["parts"] == [
        {"text": "Hm."},
        {"functionCall": {"id": "c1", "name": "add", "args": {}}, "thoughtSignature": "s1"},
        {"functionCall": {"id": "c2", "name": "add", "args": {}}},
    ]


def test_a_signature_goes_back_on_the_text_that_it_came_with() -> None:
    message = answer(
        "one two three",
        parts=[
            own(4, 0, kind="text", length=3, fields={"thoughtSignature": "s1"}),
            own(13, 0, kind="part", part={"text": "", "thoughtSignature": "s2"}),
        ],
    )

    assert write(message, generation=3)[0]["parts"] == [
        {"text": "one "},
        {"text": "two", "thoughtSignature": "s1"},
        {"text": " three"},
        {"text": "", "thoughtSignature": "s2"},
    ]


def test_results_of_built_in_tools_go_back_and_metadata_does_not() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1+1"}}
    message = answer(
        "2",
        parts=[own(0, 0, kind="part", part=code), own(1, 0, kind="metadata", groundingMetadata={"x": 1})],
    )

    assert write(message, generation=3)[0]["parts"] == [code, {"text": "2"}]


def test_parts_of_other_providers_are_left_out() -> None:
    message = answer("2", parts=[own(0, 0, "anthropic", type="thinking", thinking="…", signature="s")])

    assert write(message) == [{"role": "model", "parts": [{"text": "2"}]}]


@pytest.mark.parametrize(("generation", "signature"), [(2, None), (3, SKIP_SIGNATURE)])
def test_the_first_call_of_another_model_is_marked_where_a_signature_is_demanded(
    generation: int, signature: str | None
) -> None:
    parts = write(answer(None, call("c1"), call("c2")), generation=generation)[0]["parts"]

    assert [part.get("thoughtSignature") for part in parts] == [signature, None]


def test_signatures_of_another_generation_are_dropped() -> None:
    old = own(0, 0, kind="call", fields={"thoughtSignature": "s1"})
    old["data"]["model"] = GEMINI_2
    empty = own(0, 1, kind="part", part={"text": "", "thoughtSignature": "s2"})
    empty["data"]["model"] = GEMINI_2

    assert write(answer(None, call("c1"), parts=[old, empty]), generation=3)[0]["parts"] == [
        {"functionCall": {"id": "c1", "name": "add", "args": {}}, "thoughtSignature": SKIP_SIGNATURE}
    ]


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (
            {"type": "image", "data": b"\x89PNG", "media_type": "image/png"},
            {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}},
        ),
        (
            {"type": "audio", "data": "UklGRg==", "media_type": "audio/wav"},
            {"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}},
        ),
        (
            {"type": "file", "url": "gs://bucket/a.pdf"},
            {"fileData": {"fileUri": "gs://bucket/a.pdf", "mimeType": "application/pdf"}},
        ),
        (
            {"type": "video", "url": "https://www.youtube.com/watch?v=x"},
            {"fileData": {"fileUri": "https://www.youtube.com/watch?v=x"}},
        ),
    ],
)
def test_attachments_are_inlined_or_named_by_their_url(part: Any, written: Any) -> None:
    assert write({"role": "user", "content": [part]})[0]["parts"] == [written]


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ({"type": "image", "url": "file:///etc/passwd"}, "cannot fetch an attachment by 'file'"),
        ({"type": "hologram", "x": 1}, "cannot read a part of type 'hologram'. Expected one of: text, image"),
    ],
)
def test_an_attachment_that_gemini_cannot_read_is_refused(part: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        write({"role": "user", "content": [part]})


@pytest.mark.parametrize("generation", [2, 3])
def test_attachments_of_results_stand_where_the_model_accepts_them(generation: int) -> None:
    picture = {"type": "image", "data": b"\x89PNG", "media_type": "image/png"}
    content = [{"type": "text", "text": "the plot"}, picture]
    inlined = {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}}

    parts = write(answer(None, call("c1")), result("c1", content), generation=generation)[1]["parts"]

    response = {"id": "c1", "name": "add", "response": {"output": "the plot"}}
    if generation == 2:
        assert parts == [{"functionResponse": response}, inlined]
    else:
        assert parts == [{"functionResponse": {**response, "parts": [inlined]}}]


@pytest.mark.parametrize(
    ("model", "version"),
    [
        ("gemini-2.5-flash-lite", (2, 5)),
        ("gemini-3-pro-preview", (3, 0)),
        ("publishers/google/models/gemini-3.1-pro", (3, 1)),
        ("gemini-flash-latest", (3, 0)),
        ("gemma-3-27b-it", (0, 0)),
    ],
)
def test_the_version_is_read_from_the_name(model: str, version: tuple[int, int]) -> None:
    assert read_version(model) == version
