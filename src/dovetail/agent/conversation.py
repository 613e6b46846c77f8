"""What has been said in a loop: the messages as the model reads them, and the new ones as they were."""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.agent.compaction import fit
from dovetail.messages.budget import Budget
from dovetail.messages.call import ToolCall
from dovetail.messages.delta import Usage
from dovetail.messages.request import ChatMessage, ModelRequest
from dovetail.requesters.requester import Requester


class Conversation:
    """Grows turn by turn; what the model reads may be shortened, what was added never is."""

    def __init__(self, messages: Sequence[ChatMessage], budget: Budget) -> None:
        self.messages = list(messages)
        self.added: list[ChatMessage] = []
        self._budget = budget

    def add(self, message: ChatMessage) -> None:
        """Append a message."""
        self.messages.append(message)
        self.added.append(message)

    def say(self, text: str) -> None:
        """Append a message of the user's side."""
        self.add({"role": "user", "content": text})

    def count(self, usage: Usage) -> None:
        """Count the tokens of a request in the budget."""
        self._budget.use_tokens(usage)

    async def make_room(self, window: int | None, requester: Requester) -> ModelRequest | None:
        """Shorten what is old when the model's window is nearly full; returns the request it took, if any."""
        if window is None:
            return None
        fitted = await fit(self.messages, window, requester)
        self.messages = fitted.messages
        self.count(fitted.usage)
        return fitted.asked


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
