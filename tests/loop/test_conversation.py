"""A conversation grows turn by turn, and shrinks when the model cannot read it."""

from dovetail.events.call import ChatMessage
from dovetail.loop.conversation import Conversation, find_open_calls
from dovetail.loop.tokens import estimate_tokens
from dovetail.testing import ScriptedRequester

LONG: list[ChatMessage] = [
    {"role": "user", "content": "Find the key."},
    *({"role": "assistant", "content": f"{number} " + "x" * 3_000} for number in range(12)),
    {"role": "user", "content": "Go on."},
]


async def test_conversation_that_fits_stays() -> None:
    conversation = Conversation(LONG)
    assert await conversation.make_room(20_000, ScriptedRequester([])) is None
    assert conversation.messages == LONG


async def test_tools_take_room_from_the_conversation() -> None:
    conversation = Conversation(LONG)
    fitted = await conversation.make_room(20_000, ScriptedRequester(["Nothing yet."]), reserved=8_000)
    assert fitted is not None
    assert conversation.tokens <= 8_000


async def test_refused_conversation_shrinks_even_if_it_was_thought_to_fit() -> None:
    conversation = Conversation(LONG)
    before = conversation.tokens
    fitted = await conversation.shrink(1_000_000, ScriptedRequester(["Nothing yet."]))
    assert fitted is not None
    assert conversation.tokens <= before * 0.6
    assert conversation.messages[-1] == LONG[-1]


async def test_conversation_of_one_long_message_cannot_shrink() -> None:
    conversation = Conversation([{"role": "user", "content": "x" * 30_000}])
    assert await conversation.shrink(None, ScriptedRequester([])) is None
    assert conversation.messages == [{"role": "user", "content": "x" * 30_000}]


def test_size_follows_the_messages() -> None:
    conversation = Conversation(LONG[:2])
    assert conversation.tokens == estimate_tokens(LONG[:2])
    conversation.say("Go on.")
    assert conversation.tokens == estimate_tokens([*LONG[:2], {"role": "user", "content": "Go on."}])


def test_open_calls_are_those_of_the_last_answer_without_a_result() -> None:
    calls = [{"id": name, "function": {"name": "look", "arguments": "{}"}} for name in ("c1", "c2")]
    messages: list[ChatMessage] = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
    ]
    assert [call.call_id for call in find_open_calls(messages)] == ["c2"]
