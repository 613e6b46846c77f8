"""A conversation becomes input items that the server accepts, with reasoning in its place."""

from typing import Any

import pytest

from dovetail.requesters.openai.responses_input import build_input

REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "encrypted_content": "x",
    "status": "completed",
}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}


def part(data: dict[str, Any], text: int = 0, calls: int = 0, source: str = "own") -> dict[str, Any]:
    return {"source": source, "text": text, "calls": calls, "data": data}


def build(*messages: dict[str, Any], is_stored: bool = False) -> list[dict[str, Any]]:
    return build_input(messages, "own", is_stored=is_stored)


def answer(content: str | None, *parts: dict[str, Any], calls: int = 0) -> dict[str, Any]:
    tool_calls = [{**CALL, "id": f"c{number}"} for number in range(1, calls + 1)]
    return {"role": "assistant", "content": content, "tool_calls": tool_calls, "provider_parts": [*parts]}


def test_text_calls_and_own_items_keep_their_order() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    other = {**REASONING, "id": "rs_2"}
    message = answer("Look.Then.", part(REASONING), part(search, 5), part(other, 10, 1), calls=2)
    items = build(message)
    assert [item.get("id") or item.get("call_id") or item["content"] for item in items] == [
        *("rs_1", "Look.", "ws_1", "Then.", "c1", "rs_2", "c2")
    ]
    assert items[2] == search
    assert items[4] == {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a": 1}'}


def test_reasoning_that_leads_to_nothing_is_left_out() -> None:
    assert build(answer(None, part(REASONING))) == []
    assert build(answer("Hi", part(REASONING, 2))) == [{"role": "assistant", "content": "Hi"}]


@pytest.mark.parametrize(
    ("item", "is_stored", "sent"),
    [
        (REASONING, False, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}),
        (
            {**REASONING, "content": [{"type": "reasoning_text", "text": "t"}]},
            False,
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        ),
        ({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None}, False, None),
        (
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None},
            True,
            {"type": "reasoning", "id": "rs_1", "summary": []},
        ),
        (
            {"type": "reasoning", "id": "rs_1", "content": [{"type": "reasoning_text", "text": "t"}]},
            False,
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [],
                "content": [{"type": "reasoning_text", "text": "t"}],
            },
        ),
    ],
)
def test_reasoning_goes_back_in_the_form_that_the_server_reads(
    item: dict[str, Any], is_stored: bool, sent: dict[str, Any] | None
) -> None:
    items = build(answer("Hi", part(item)), is_stored=is_stored)
    assert items[:-1] == ([] if sent is None else [sent])


def test_phase_belongs_to_the_text_that_follows() -> None:
    message = answer(
        "Wait.\n\nDone.",
        part({"type": "message", "phase": "commentary"}),
        part({"type": "message", "phase": "final_answer"}, 5),
    )
    assert build(message) == [
        {"role": "assistant", "content": "Wait.", "phase": "commentary"},
        {"role": "assistant", "content": "\n\nDone.", "phase": "final_answer"},
    ]


def test_items_of_another_provider_stay_behind() -> None:
    assert build(answer("Hi", part(REASONING, source="azure-responses"))) == [
        {"role": "assistant", "content": "Hi"}
    ]


def test_arguments_that_are_not_json_go_back_as_a_value() -> None:
    broken = {"id": "c1", "function": {"name": "add", "arguments": '{"a": '}}
    assert build({"role": "assistant", "content": None, "tool_calls": [broken]})[0]["arguments"] == (
        '{"value": "{\\"a\\": "}'
    )


def test_results_may_be_text_data_or_parts() -> None:
    contents = ["3", None, {"a": 1}, [{"type": "image", "data": b"x", "media_type": "image/png"}]]
    items = build(*({"role": "tool", "tool_call_id": "c1", "content": content} for content in contents))
    assert [item["output"] for item in items] == [
        "3",
        "",
        "a: 1\n",
        [{"type": "input_image", "image_url": "data:image/png;base64,eA==", "detail": "auto"}],
    ]
    assert {item["type"] for item in items} == {"function_call_output"}


def test_parts_in_the_shape_of_the_api_are_passed_on() -> None:
    parts = [{"type": "input_text", "text": "x"}, {"type": "input_file", "file_id": "file_1"}]
    assert build({"role": "user", "content": parts})[0]["content"] == parts


def test_ids_that_are_too_long_for_the_server_are_replaced_in_calls_and_results() -> None:
    name = "call_" + "a1b2c3d4" * 9
    called = {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": name}]}
    call, result = build(called, {"role": "tool", "tool_call_id": name, "content": "3"})
    assert call["call_id"] == result["call_id"]
    assert len(call["call_id"]) <= 64
