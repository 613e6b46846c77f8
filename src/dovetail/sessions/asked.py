"""What a model was asked in a chat: the journal names the conversation, the session still has it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dovetail.agent.request_log import show_messages
from dovetail.messages.model_event import ModelRequested
from dovetail.sessions.request import read_history
from dovetail.sessions.tree import MessageTree

_GONE = {"role": "system", "content": "(What was said before has been deleted from the session.)"}


class AskedMessages:
    """Puts the messages of a session back into the requests of its runs."""

    def __init__(self, tree: MessageTree) -> None:
        self._tree = tree

    def complete(self, event: ModelRequested) -> ModelRequested:
        """The request as it was sent."""
        if not any("stored" in message for message in event.messages):
            return event
        return replace(
            event, messages=tuple(one for message in event.messages for one in self._read(message))
        )

    def _read(self, message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        name = message.get("stored")
        if name is None:
            return [message]
        return show_messages(read_history(self._tree.path(name))) if name in self._tree else [_GONE]
