"""Long conversations are made to fit, calls and results together."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.events.call import ChatMessage
from dovetail.loop.compaction import Fitted, Summaries, shorten
from dovetail.loop.tokens import FULL, estimate_tokens
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


async def fit(messages: list[ChatMessage], window: int, requester: ScriptedRequester) -> Fitted:
    return await shorten(messages, int(window * FULL), requester, Summaries())


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


async def test_without_a_requester_little_is_left_of_the_old_part_and_nothing_is_asked() -> None:
    messages = make_conversation(20, 2_000)
    fitted = await shorten(messages, int(8_000 * FULL), None, Summaries())
    assert fitted.asked is None
    assert estimate_tokens(fitted.messages) <= 8_000 * FULL
    assert fitted.messages[:2] == messages[:2]
    assert fitted.messages[3:] == messages[-6:]


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


async def test_next_answer_builds_on_the_last_summary() -> None:
    messages = make_conversation(20, 2_000)
    summaries, requester = Summaries(), ScriptedRequester(["The key is under the mat.", "It was found."])
    await shorten(messages, 6_400, requester, summaries)
    messages += [{"role": "user", "content": "Where is it?"}]
    again = await shorten(messages, 6_400, requester, summaries)
    assert again.asked is None
    assert again.messages[2]["content"].endswith("under the mat.")
    assert again.messages[-1] == messages[-1]
    messages += make_conversation(8, 2_000)[2:]
    later = await shorten(messages, 6_400, requester, summaries)
    assert later.asked is not None
    assert "under the mat" in later.asked.messages[1]["content"]
    assert "It was found." in later.messages[2]["content"]
    assert_paired(later.messages)
    assert len(requester.requests) == 2


async def test_other_conversation_does_not_get_the_summary() -> None:
    summaries, requester = Summaries(), ScriptedRequester(["One.", "Two."])
    await shorten(make_conversation(20, 2_000), 6_400, requester, summaries)
    other = make_conversation(20, 2_000)
    other[2] = {**other[2], "content": "z" * 2_000}
    fitted = await shorten(other, 6_400, requester, summaries)
    assert fitted.messages[2]["content"].endswith("Two.")


async def test_summary_is_asked_for_without_attachments_and_provider_parts() -> None:
    messages = make_conversation(20, 2_000)
    image = {"type": "image", "data": bytes(90_000), "media_type": "image/png"}
    messages[3] = {**messages[3], "content": [{"type": "text", "text": "A mat."}, image]}
    messages[2] = {**messages[2], "provider_parts": [{"source": "a", "data": {"signature": "S" * 5_000}}]}
    requester = ScriptedRequester(["So far nothing."])
    await shorten(messages, 6_400, requester, Summaries())
    asked = requester.requests[0].messages[1]["content"]
    assert "A mat." in asked
    assert "An attachment was here." in asked
    assert "x00" not in asked
    assert "SSSS" not in asked


async def test_request_for_a_summary_fits_into_the_window_itself() -> None:
    messages = make_conversation(20, 10)
    for place in range(2, 30):
        messages[place] = {**messages[place], "content": "木" * 2_000}
    requester = ScriptedRequester(["So far nothing."])
    fitted = await shorten(messages, 6_400, requester, Summaries())
    assert estimate_tokens(requester.requests[0].messages) <= 6_400
    assert estimate_tokens(fitted.messages) <= 6_400


async def test_newest_messages_that_are_too_long_are_summarized_as_well() -> None:
    messages = [*make_conversation(3, 8_000), {"role": "user", "content": "Go on."}]
    fitted = await shorten(messages, 6_400, ScriptedRequester(["So far nothing."]), Summaries())
    assert estimate_tokens(fitted.messages) <= 6_400
    assert fitted.messages[-1] == messages[-1]
    assert_paired(fitted.messages)


async def test_chat_that_begins_with_a_long_message_still_fits() -> None:
    messages: list[ChatMessage] = [{"role": "user", "content": "doc " * 4_000}]
    for turn in range(8):
        messages.append({"role": "assistant", "content": "x" * 3_000})
        messages.append({"role": "user", "content": f"Question {turn}"})
    fitted = await fit(messages, 8_000, ScriptedRequester(["So far nothing."]))
    assert estimate_tokens(fitted.messages) <= 8_000 * FULL
    assert fitted.messages[0]["content"].startswith("doc doc")
    assert "characters were left out" in fitted.messages[0]["content"]
    assert fitted.messages[-1] == messages[-1]


async def test_single_message_that_is_too_long_stays_as_it_was_written() -> None:
    messages: list[ChatMessage] = [{"role": "user", "content": "doc " * 40_000}]
    assert (await fit(messages, 8_000, ScriptedRequester([]))).messages == messages


async def test_many_results_of_one_turn_share_the_room() -> None:
    names = [f"c{number}" for number in range(10)]
    calls = [
        {"id": name, "type": "function", "function": {"name": "look", "arguments": "{}"}} for name in names
    ]
    messages: list[ChatMessage] = [
        {"role": "user", "content": "Find the key."},
        {"role": "assistant", "content": "", "tool_calls": calls},
        *({"role": "tool", "tool_call_id": name, "content": "y" * 6_000} for name in names),
    ]
    fitted = await fit(messages, 8_000, ScriptedRequester(["So far nothing."]))
    assert estimate_tokens(fitted.messages) <= 8_000 * FULL
    assert_paired(fitted.messages)
