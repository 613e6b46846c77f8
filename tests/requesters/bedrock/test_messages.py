"""Messages in the shape of the Converse API, whatever shape they had before."""

import re
from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.requesters.bedrock.messages import ConverseWriter

USER = {"role": "user", "content": "Hello"}


def write(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return ConverseWriter("bedrock-anthropic").write(messages).messages


def call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "add", "arguments": "{}"}}


def test_roles_alternate_and_begin_with_the_user() -> None:
    written = write(
        {"role": "assistant", "content": "Hi"},
        USER,
        {"role": "user", "content": "Are you there?"},
        {"role": "assistant", "content": " \n"},
        {"role": "user", "content": "?"},
    )
    assert [message["role"] for message in written] == ["user", "assistant", "user"]
    assert written[2]["content"] == [{"text": "Hello"}, {"text": "Are you there?"}, {"text": "?"}]


def test_system_texts_are_apart_and_alone_become_the_question() -> None:
    conversation = ConverseWriter("bedrock").write([{"role": "system", "content": "Be brief."}, USER])
    assert conversation.system == [{"text": "Be brief."}]
    alone = ConverseWriter("bedrock").write([{"role": "system", "content": "Say hello."}])
    assert (alone.system, alone.messages) == ([], [{"role": "user", "content": [{"text": "Say hello."}]}])


def test_results_of_several_calls_are_one_message() -> None:
    written = write(
        USER,
        {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": ""},
    )
    assert [block["toolResult"]["toolUseId"] for block in written[2]["content"]] == ["a", "b"]
    assert written[2]["content"][1]["toolResult"]["content"] == [{"text": "(empty)"}]


def test_ids_of_other_providers_are_made_valid_and_still_match() -> None:
    long, odd = "x" * 80, "call|fc_1/2"
    written = write(
        USER,
        {"role": "assistant", "content": None, "tool_calls": [call(long), call(odd), call("ok-1")]},
        *({"role": "tool", "tool_call_id": name, "content": "1"} for name in (long, odd, "ok-1")),
    )
    used = [block["toolUse"]["toolUseId"] for block in written[1]["content"]]
    answered = [block["toolResult"]["toolUseId"] for block in written[2]["content"]]
    assert used == answered
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in used)
    assert (len(set(used)), used[2]) == (3, "ok-1")


def test_own_parts_are_kept_in_their_place_and_those_of_others_left_out() -> None:
    own = {"reasoningText": {"text": "Hm.", "signature": "s"}}
    answer = {
        "role": "assistant",
        "content": "One. Two.",
        "provider_parts": [
            {"source": "bedrock-anthropic", "text": 5, "calls": 0, "data": own},
            {"source": "anthropic", "text": 0, "calls": 0, "data": {"type": "thinking"}},
            {"source": "bedrock-amazon", "text": 0, "calls": 0, "data": own},
        ],
    }
    assert write(USER, answer)[1]["content"] == [
        {"text": "One. "},
        {"reasoningContent": own},
        {"text": "Two."},
    ]


def test_documents_have_valid_names_of_their_own_and_a_text() -> None:
    def file(name: str) -> dict[str, Any]:
        return {"type": "file", "data": b"a,b", "media_type": "text/csv", "filename": name}

    content = write({"role": "user", "content": [file("q1_data!.csv"), file("q1 data.csv"), file("")]})[0][
        "content"
    ]
    names = [block["document"]["name"] for block in content if "document" in block]
    assert names == ["q1 data csv", "q1 data csv 2", "document"]
    assert content[-1] == {"text": "(See the attached document.)"}


@pytest.mark.parametrize(
    ("media_type", "kind", "form"),
    [
        ("image/jpeg", "image", "jpeg"),
        ("application/pdf", "document", "pdf"),
        ("text/markdown", "document", "md"),
        ("text/x-python", "document", "txt"),
        ("application/json", "document", "txt"),
        ("audio/mpeg", "audio", "mp3"),
        ("video/mp4", "video", "mp4"),
    ],
)
def test_attachment_has_the_format_of_its_media_type(media_type: str, kind: str, form: str) -> None:
    (block,) = ConverseWriter("bedrock").write_content(
        [{"type": "file", "data": b"abc", "media_type": media_type}]
    )
    assert block[kind]["format"] == form
    assert block[kind]["source"] == {"bytes": "YWJj"}


def test_attachment_in_a_bucket_is_named_and_on_the_web_refused() -> None:
    (block,) = ConverseWriter("bedrock").write_content([{"type": "image", "url": "s3://mine/cat.png"}])
    assert block["image"]["source"] == {"s3Location": {"uri": "s3://mine/cat.png"}}
    with pytest.raises(ConfigError, match="does not fetch"):
        ConverseWriter("bedrock").write_content([{"type": "image", "url": "https://example.com/cat.png"}])
    with pytest.raises(ConfigError, match="does not accept attachments of type 'image/tiff'"):
        ConverseWriter("bedrock").write_content([{"type": "image", "data": b"x", "media_type": "image/tiff"}])


def test_data_and_blocks_of_the_api_itself_are_written() -> None:
    assert ConverseWriter("bedrock").write_content({"a": 1}) == [{"text": "a: 1\n"}]
    point = {"type": "cachePoint", "cachePoint": {"type": "default"}}
    assert ConverseWriter("bedrock").write_content([point]) == [{"cachePoint": {"type": "default"}}]
