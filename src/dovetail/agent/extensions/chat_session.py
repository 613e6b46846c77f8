"""Remembers each turn of a conversation and tells it to the model again (document 000, 5).

Not part of `Agent`; mix it in: `class Chatter(ChatSessionExtension, Agent): ...`
"""

import asyncio
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, Self
from uuid import uuid4
from weakref import WeakKeyDictionary

from dovetail.agent.base import BaseAgent
from dovetail.agent.compaction import estimate_tokens
from dovetail.agent.extensions.chat_record import (
    RecordPaths,
    check_mode,
    read_paths,
    write_paths,
    write_record,
    write_value,
)
from dovetail.agent.extensions.chat_store import ChatStore, MemoryChatStore
from dovetail.agent.request import AgentRequest
from dovetail.messages.request import ChatMessage
from dovetail.prompt.prompt import Prompt
from dovetail.response.result import Result
from dovetail.settings import Settings

_ASKED = ("input", "instruct", "info")


@dataclass(slots=True)
class _Turn:
    """A request of a session, and what was recorded of it."""

    session_id: str
    prompt: Prompt
    position: int = -1
    messages: list[ChatMessage] = field(default_factory=list[ChatMessage])


class ChatSessionExtension(BaseAgent):
    """An agent extension: chat sessions by id, several side by side, one of them active.

    The settings `record_input_paths`, `record_output_paths`, `record_input_mode` and `record_output_mode`
    say what is recorded; `chat_session.token_budget` how much of it the model is told, oldest left out first.
    """

    def set_up(self) -> None:
        """Record every request at its end."""
        super().set_up()
        self.chat_session_id: str | None = None
        self._store: ChatStore = MemoryChatStore()
        self._history_before: Any = None
        self._turns: WeakKeyDictionary[Settings, _Turn] = WeakKeyDictionary()
        self._recording = threading.Lock()
        self.extension_handlers.append("finally", self._record)

    def use_chat_store(self, store: ChatStore) -> Self:
        """Keep sessions in a store, such as a `FolderChatStore`, which survives the process."""
        self._store = store
        return self

    def activate_chat_session(self, chat_session_id: str | None = None) -> Self:
        """Go on with a session, or begin a new one; its id is `agent.chat_session_id`."""
        if self.chat_session_id is None:
            self._history_before = self.agent_prompt.get("chat_history")
        self.chat_session_id = chat_session_id or uuid4().hex
        self._show(self._store.load(self.chat_session_id))
        return self

    def stop_chat_session(self) -> Self:
        """Record no more, and put the agent's own history back."""
        if self.chat_session_id is not None:
            self.chat_session_id = None
            self.agent_prompt.delete("chat_history")
            if self._history_before is not None:
                self.agent_prompt.replace("chat_history", self._history_before)
        return self

    def set_chat_history(self, history: Iterable[ChatMessage]) -> Self:
        """Put these messages in the place of the history, also in the active session."""
        return super().set_chat_history(self._keep(list(history)))

    def add_chat_history(self, history: ChatMessage | Iterable[ChatMessage]) -> Self:
        """Add messages to the history, also to that of the active session."""
        super().add_chat_history(history)
        self._keep(self.agent_prompt.get("chat_history"))
        return self

    def reset_chat_history(self) -> Self:
        """Forget the history, also in the active session."""
        self._keep([])
        return super().reset_chat_history()

    def set_record_input_paths(self, paths: RecordPaths) -> Self:
        """Record these parts of the request in place of the whole input."""
        return self.set_settings("record_input_paths", read_paths(paths))

    def add_record_input_paths(self, paths: RecordPaths) -> Self:
        """Record these parts of the request too."""
        return self.set_record_input_paths([*self.get_record_input_paths(), *read_paths(paths)])

    def clean_record_input_paths(self) -> Self:
        """Record the whole input again."""
        return self.set_settings("record_input_paths", [])

    def get_record_input_paths(self, *, style: Literal["dot", "slash"] = "dot") -> list[str]:
        """The parts of the request that are recorded."""
        return write_paths(read_paths(self.settings.get("record_input_paths") or []), style)

    def set_record_output_paths(self, paths: RecordPaths) -> Self:
        """Record these parts of the answer's data in place of the whole text."""
        return self.set_settings("record_output_paths", read_paths(paths))

    def add_record_output_paths(self, paths: RecordPaths) -> Self:
        """Record these parts of the answer's data too."""
        return self.set_record_output_paths([*self.get_record_output_paths(), *read_paths(paths)])

    def clean_record_output_paths(self) -> Self:
        """Record the whole answer again."""
        return self.set_settings("record_output_paths", [])

    def get_record_output_paths(self, *, style: Literal["dot", "slash"] = "dot") -> list[str]:
        """The parts of the answer's data that are recorded."""
        return write_paths(read_paths(self.settings.get("record_output_paths") or []), style)

    def set_record_input_mode(self, mode: Literal["first", "all"]) -> Self:
        """Record the first of the input paths that has a value, or all of them."""
        return self.set_settings("record_input_mode", check_mode(mode))

    def set_record_output_mode(self, mode: Literal["first", "all"]) -> Self:
        """Record the first of the output paths that has a value, or all of them."""
        return self.set_settings("record_output_mode", check_mode(mode))

    def _take_request(self) -> AgentRequest:
        request = super()._take_request()
        if self.chat_session_id is not None:
            self._turns[request.settings] = _Turn(self.chat_session_id, request.prompt)
        return request

    async def _record(self, result: Result[Any], settings: Settings) -> None:
        turn = self._turns.get(settings)
        if turn is not None and result.finish is not None:
            messages = _write_turn(turn.prompt, result, settings)
            await asyncio.to_thread(self._save_turn, turn, messages)

    def _save_turn(self, turn: _Turn, messages: list[ChatMessage]) -> None:
        """Append the turn; a second try of the same request takes the place of the first."""
        with self._recording:
            history = self._store.load(turn.session_id)
            end = turn.position + len(turn.messages)
            if turn.messages and history[turn.position : end] == turn.messages:
                history[turn.position : end] = messages
            else:
                turn.position = len(history)
                history += messages
            turn.messages = messages
            self._store.save(turn.session_id, history)
            if self.chat_session_id == turn.session_id:
                self._show(history)

    def _keep(self, history: list[ChatMessage] | None) -> list[ChatMessage]:
        if self.chat_session_id is not None:
            self._store.save(self.chat_session_id, history or [])
        return history or []

    def _show(self, history: list[ChatMessage]) -> None:
        """Tell the model the history, as far as it fits into the budget."""
        budget = self.settings.get("chat_session.token_budget")
        fitting = history if budget is None else _drop_oldest(history, int(budget))
        self.agent_prompt.replace("chat_history", list(fitting))


def _write_turn(prompt: Prompt, result: Result[Any], settings: Settings) -> list[ChatMessage]:
    asked = _write_asked(prompt, settings)
    paths = read_paths(settings.get("record_output_paths") or [])
    answer = write_record(result.parsed, paths, settings.get("record_output_mode") or "all")
    messages: list[ChatMessage] = [] if asked is None else [{"role": "user", "content": asked}]
    return [*messages, {"role": "assistant", "content": result.text if answer is None else answer}]


def _write_asked(prompt: Prompt, settings: Settings) -> str | None:
    paths = read_paths(settings.get("record_input_paths") or [])
    recorded = write_record(prompt.get(), paths, settings.get("record_input_mode") or "all")
    if recorded is not None:
        return recorded
    whole = next((prompt.get(slot) for slot in _ASKED if prompt.get(slot)), None)
    return None if whole is None else write_value(whole)


def _drop_oldest(history: list[ChatMessage], budget: int) -> list[ChatMessage]:
    """The newest turns that fit; a turn begins with a message of the user and stays whole."""
    begins = [place for place, message in enumerate(history) if message["role"] == "user"] or [0]
    for begin in [0, *begins[1:]]:
        if estimate_tokens(history[begin:]) <= budget:
            return history[begin:]
    return []
