"""Messages are written with alternating roles and blocks of content."""

import base64
from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.requesters.anthropic.content import MessagesWriter
from dovetail.requesters.parts import CallIds

THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "S"}
SECOND = {"type": "redacted_thinking", "data": "D"}
CITED = {"type": "text", "text": "It rains.", "citations": [{"type": "char_location"}]}


def write(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return MessagesWriter("anthropic").write(messages).messages


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(call_id: str, name: str = "add", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def part(data: dict[str, Any], place: int = 0, calls: int = 0, source: str = "anthropic") -> dict[str, Any]:
    return {"source": source, "text": place, "calls": calls, "data": data}


USER = {"role": "user", "content": "hi"}


def test_system_messages_are_joined_wherever_they_stand() -> None:
    conversation = MessagesWriter("anthropic").write(
        [
            {"role": "system", "content": "a"},
            USER,
            {"role": "system", "content": [text("b"), {"type": "image", "url": "https://a.example/x.png"}]},
            {"role": "system", "content": " "},
        ]
    )
    assert conversation.system == [text("a"), text("b")]
    assert conversation.messages == [{"role": "user", "content": [text("hi")]}]


def test_messages_of_the_same_role_are_merged_and_empty_ones_left_out() -> None:
    written = write(
        USER,
        {"role": "user", "content": "  \n"},
        {"role": "user", "content": "there"},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": "one"},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": "two  \n"},
    )
    assert written == [
        {"role": "user", "content": [text("hi"), text("there")]},
        {"role": "assistant", "content": [text("one"), text("two")]},
    ]


def test_the_first_message_is_always_the_users() -> None:
    [first, second] = write({"role": "assistant", "content": "Welcome"})
    assert (first["role"], second["role"]) == ("user", "assistant")
    alone = MessagesWriter("anthropic").write([{"role": "system", "content": "Say hello"}])
    assert (alone.system, alone.messages) == ([], [{"role": "user", "content": [text("Say hello")]}])


def test_results_of_parallel_calls_share_one_message() -> None:
    picture = {"type": "image", "data": b"png", "media_type": "image/png"}
    written = write(
        USER,
        {"role": "assistant", "content": "", "tool_calls": [call("a", arguments='{"x": 1}'), call("b.2:c")]},
        {"role": "tool", "tool_call_id": "a", "content": "3"},
        {"role": "tool", "tool_call_id": "b.2:c", "content": [picture]},
        {"role": "user", "content": "thanks"},
    )
    assert written[1]["content"] == [
        {"type": "tool_use", "id": "a", "name": "add", "input": {"x": 1}},
        {"type": "tool_use", "id": CallIds().fit("b.2:c"), "name": "add", "input": {}},
    ]
    assert written[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": [text("3")]},
        {
            "type": "tool_result",
            "tool_use_id": CallIds().fit("b.2:c"),
            "content": [
                {
                    "type": "image",
                    "source": {
                        "type": "base64",
                        "media_type": "image/png",
                        "data": base64.b64encode(b"png").decode(),
                    },
                }
            ],
        },
        text("thanks"),
    ]


def test_an_empty_result_has_no_content() -> None:
    written = write(
        USER,
        {"role": "assistant", "tool_calls": [call("a")]},
        {"role": "tool", "tool_call_id": "a", "content": ""},
    )
    assert written[2]["content"] == [{"type": "tool_result", "tool_use_id": "a"}]


def test_arguments_that_are_no_json_go_back_as_a_value() -> None:
    written = write(USER, {"role": "assistant", "tool_calls": [call("a", arguments='{"x": ')]})
    assert written[1]["content"][0]["input"] == {"value": '{"x": '}


def test_own_parts_go_back_in_their_place_and_unchanged() -> None:
    message = {
        "role": "assistant",
        "content": "Let me add.",
        "tool_calls": [call("a"), call("b")],
        "provider_parts": [part(THOUGHT), part(SECOND, 11, 0), part(THOUGHT, 11, 1)],
    }
    assert [block["type"] for block in write(USER, message)[1]["content"]] == [
        "thinking",
        "text",
        "redacted_thinking",
        "tool_use",
        "thinking",
        "tool_use",
    ]
    assert write(USER, message)[1]["content"][0] == THOUGHT


def test_parts_of_another_provider_stay_behind() -> None:
    message = {"role": "assistant", "content": "Hello", "provider_parts": [part(THOUGHT, source="google")]}
    assert write(USER, message)[1]["content"] == [text("Hello")]


def test_thinking_that_leads_to_nothing_is_left_out() -> None:
    message = {"role": "assistant", "content": "", "provider_parts": [part(THOUGHT)]}
    assert write(USER, message, USER) == [{"role": "user", "content": [text("hi"), text("hi")]}]


def test_citations_go_back_with_their_text() -> None:
    message = {"role": "assistant", "content": "So: It rains. Yes.", "provider_parts": [part(CITED, 13)]}
    assert write(USER, message)[1]["content"] == [text("So: "), CITED, text(" Yes.")]


@pytest.mark.parametrize(
    ("given", "block"),
    [
        (
            {"type": "image", "url": "https://a.example/x.png"},
            {"type": "image", "source": {"type": "url", "url": "https://a.example/x.png"}},
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:image/webp;base64,AAA="}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": "AAA="}},
        ),
        (
            {"type": "file", "data": b"%PDF", "media_type": "application/pdf", "filename": "a.pdf"},
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
                "title": "a.pdf",
            },
        ),
        (
            {"type": "file", "url": "https://a.example/a.pdf"},
            {"type": "document", "source": {"type": "url", "url": "https://a.example/a.pdf"}},
        ),
        (
            {"type": "file", "data": "Grüße".encode(), "media_type": "text/csv"},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Grüße"}},
        ),
        (
            {"type": "document", "source": {"type": "file", "file_id": "f"}},
            {"type": "document", "source": {"type": "file", "file_id": "f"}},
        ),
    ],
)
def test_attachments_become_images_and_documents(given: dict[str, Any], block: dict[str, Any]) -> None:
    assert write({"role": "user", "content": [given]})[0]["content"] == [block]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"type": "audio", "data": b"x", "media_type": "audio/wav"}, "do not accept audio"),
        ({"type": "input_audio", "input_audio": {"data": "eA==", "format": "wav"}}, "do not accept audio"),
        ({"type": "file", "data": b"x", "media_type": "application/zip"}, "files of type 'application/zip'"),
    ],
)
def test_other_attachments_are_refused_with_advice(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        write({"role": "user", "content": [given]})
    assert caught.value.hint


SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}


def answer(content: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    own = [part(block, len(content)) for block in blocks]
    return {"role": "assistant", "content": content, "provider_parts": own}


@pytest.mark.parametrize("blocks", [(SEARCH,), (FOUND,), (THOUGHT, SEARCH)])
def test_an_interrupted_search_leaves_nothing_behind(blocks: tuple[dict[str, Any], ...]) -> None:
    assert write(USER, answer("A. ", *blocks), USER)[1]["content"] == [text("A. ")]
    assert write(USER, answer("", *blocks), USER) == [{"role": "user", "content": [text("hi"), text("hi")]}]


def test_a_search_goes_back_with_its_result_which_may_come_in_the_next_answer() -> None:
    assert write(USER, answer("A. ", SEARCH, FOUND), USER)[1]["content"] == [text("A. "), SEARCH, FOUND]
    continued = write(USER, answer("A. ", SEARCH), answer("", FOUND), USER)
    assert continued[1]["content"] == [text("A. "), SEARCH, FOUND]


def test_a_search_of_the_turn_in_progress_waits_for_its_result() -> None:
    assert write(USER, answer("A. ", SEARCH))[1]["content"] == [text("A. "), SEARCH]
