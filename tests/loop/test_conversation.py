"""A conversation grows turn by turn, and shrinks when the model cannot read it."""

from dovetail.events.call import ChatMessage, ToolSpec
from dovetail.loop.conversation import Conversation, find_open_calls
from dovetail.loop.tokens import estimate_tokens
from dovetail.testing import ScriptedRequester

TOOLS = [ToolSpec(name="look", description="x" * 24_000, parameters={"type": "object"})]
LONG: list[ChatMessage] = [
    {"role": "user", "content": "Find the key."},
    *({"role": "assistant", "content": f"{number} " + "x" * 3_000} for number in range(12)),
    {"role": "user", "content": "Go on."},
]


def test_conversation_that_fits_stays() -> None:
    assert Conversation(LONG).find_limit(20_000, []) is None
    assert Conversation(LONG[:2]).find_limit(20_000, TOOLS) is None


async def test_tools_take_room_from_the_conversation() -> None:
    conversation = Conversation(LONG)
    limit = conversation.find_limit(20_000, TOOLS)
    assert limit is not None
    assert 7_000 < limit < 9_000
    await conversation.make_room(limit, ScriptedRequester(["Nothing yet."]))
    assert conversation.tokens <= limit
    assert conversation.find_limit(20_000, TOOLS) is None


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
