"""What has been said in a loop: the messages as the model reads them, and the new ones as they were."""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.agent.compaction import Fitted, fit
from dovetail.messages.call import ToolCall
from dovetail.messages.request import ChatMessage
from dovetail.requesters.requester import Requester


class Conversation:
    """Grows turn by turn; what the model reads may be shortened, what was added never is."""

    def __init__(self, messages: Sequence[ChatMessage]) -> None:
        self.messages = list(messages)
        self.added: list[ChatMessage] = []
        self.call_ids = {call_id for message in messages for call_id in _read_call_ids(message)}
        """The ids of all calls so far, also of those that were left out to make room."""

    def add(self, message: ChatMessage) -> None:
        """Append a message."""
        self.messages.append(message)
        self.added.append(message)
        self.call_ids.update(_read_call_ids(message))

    def say(self, text: str) -> None:
        """Append a message of the user's side."""
        self.add({"role": "user", "content": text})

    async def make_room(self, window: int | None, requester: Requester) -> Fitted | None:
        """Shorten what is old when the model's window is nearly full; tells what that took."""
        if window is None:
            return None
        fitted = await fit(self.messages, window, requester)
        self.messages = fitted.messages
        return fitted


def find_open_calls(messages: Sequence[ChatMessage]) -> list[ToolCall]:
    """The calls of the last answer that have no result yet, as after a crash."""
    answered: set[str] = set()
    for message in reversed(messages):
        if message["role"] == "tool":
            answered.add(message["tool_call_id"])
        elif message["role"] == "assistant":
            return [_read_call(call) for call in message.get("tool_calls", ()) if call["id"] not in answered]
        else:
            break
    return []


def _read_call(call: Mapping[str, Any]) -> ToolCall:
    function = call["function"]
    return ToolCall(call_id=call["id"], name=function["name"], arguments=function["arguments"])


def _read_call_ids(message: ChatMessage) -> list[str]:
    return [call["id"] for call in message.get("tool_calls") or ()]
