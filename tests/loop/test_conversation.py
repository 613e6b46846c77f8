"""Long conversations are made to fit, calls and results together."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.events.call import ChatMessage
from dovetail.loop.conversation import estimate_tokens, fit
from dovetail.testing import ScriptedRequester


def make_conversation(turns: int, size: int) -> list[ChatMessage]:
    messages: list[ChatMessage] = [
        {"role": "system", "content": "You look around."},
        {"role": "user", "content": "Find the key."},
    ]
    for turn in range(turns):
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": "x" * size, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": "y" * size})
    return messages


def assert_paired(messages: list[ChatMessage]) -> None:
    calls = [call["id"] for message in messages for call in message.get("tool_calls", [])]
    assert calls == [message["tool_call_id"] for message in messages if message["role"] == "tool"]


async def test_short_conversation_stays_as_it_is() -> None:
    messages = make_conversation(2, 10)
    fitted = await fit(messages, 10_000, ScriptedRequester([]))
    assert fitted.messages == messages


async def test_old_tool_results_are_shortened_before_anything_else() -> None:
    messages = make_conversation(1, 30_000) + make_conversation(3, 10)[2:]
    messages[2] = {**messages[2], "content": "short"}
    fitted = await fit(messages, 8_000, ScriptedRequester([]))
    assert len(fitted.messages) == len(messages)
    assert "29600 more characters" in fitted.messages[3]["content"]
    assert_paired(fitted.messages)


async def test_summary_replaces_the_old_part_and_keeps_task_and_pairs() -> None:
    messages = make_conversation(20, 2_000)
    requester = ScriptedRequester(["The key is under the mat."])
    fitted = await fit(messages, 8_000, requester)
    assert fitted.messages[:2] == messages[:2]
    assert fitted.messages[2] == {
        "role": "user",
        "content": "[What happened so far]\nThe key is under the mat.",
    }
    assert fitted.messages[3:] == messages[-6:]
    assert_paired(fitted.messages)
    assert estimate_tokens(fitted.messages) < estimate_tokens(messages)


async def test_cut_never_falls_between_a_call_and_its_results() -> None:
    messages = make_conversation(20, 2_000)
    messages.append({"role": "user", "content": "Go on."})
    fitted = await fit(messages, 8_000, ScriptedRequester(["So far nothing."]))
    assert fitted.messages[3]["role"] == "assistant"
    assert_paired(fitted.messages)


async def test_large_result_is_shortened_also_when_it_is_the_newest() -> None:
    messages = make_conversation(1, 60_000)
    messages[2] = {**messages[2], "content": "short"}
    fitted = await fit(messages, 8_000, ScriptedRequester([]))
    assert estimate_tokens(fitted.messages) < 8_000
    assert "56800 more characters were here" in fitted.messages[-1]["content"]
    assert_paired(fitted.messages)


async def test_model_that_cannot_summarize_does_not_end_the_run() -> None:
    messages = make_conversation(20, 2_000)
    fitted = await fit(messages, 8_000, ScriptedRequester([{"status": 500, "body": "busy"}]))
    assert "no longer fits and was left out" in fitted.messages[2]["content"]
    assert fitted.messages[3:] == messages[-6:]
    assert_paired(fitted.messages)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4_000), st.booleans()), max_size=25),
    st.integers(500, 9_000),
)
@settings(max_examples=60)
def test_every_call_keeps_its_results_whatever_is_shortened(
    turns: list[tuple[int, int, bool]], window: int
) -> None:
    messages: list[ChatMessage] = [{"role": "user", "content": "Find the key."}]
    for turn, (calls, size, speaks) in enumerate(turns):
        ids = [f"c{turn}-{number}" for number in range(calls)]
        made = [{"id": name, "type": "function", "function": {"name": "look"}} for name in ids]
        messages.append(
            {"role": "assistant", "content": "x" * size, **({"tool_calls": made} if made else {})}
        )
        messages += [{"role": "tool", "tool_call_id": name, "content": "y" * size} for name in ids]
        if speaks:
            messages.append({"role": "user", "content": "Go on."})
    fitted = asyncio.run(fit(messages, window, ScriptedRequester(["So far nothing."])))
    assert_paired(fitted.messages)
    assert fitted.messages[0] == messages[0]
    assert fitted.messages[-1]["role"] == messages[-1]["role"]


def test_characters_outside_ascii_count_more() -> None:
    latin = estimate_tokens([{"role": "user", "content": "a" * 300}])
    chinese = estimate_tokens([{"role": "user", "content": "木" * 300}])
    assert chinese > 2 * latin
