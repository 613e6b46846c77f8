"""Chat sessions: record each turn of a conversation and send the history to the model (rule A150).

Not part of `Agent`; mix it in: `class Chatter(ChatSessionExtension, Agent): ...`
"""

import asyncio
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import uuid4
from weakref import WeakKeyDictionary

from dovetail.agent.base import list_messages
from dovetail.agent.extensions.chat_record import (
    RecordPathsExtension,
    get_input_paths,
    get_mode,
    get_output_paths,
    record_input,
    record_output,
    write_value,
)
from dovetail.agent.extensions.chat_store import STORING, ChatStore, MemoryChatStore, fit_history
from dovetail.agent.pending import ContextValue
from dovetail.agent.request import AgentRequest
from dovetail.events.call import ChatMessage
from dovetail.prompt.prompt import Prompt
from dovetail.response.result import Result
from dovetail.settings import Settings
from dovetail.settings.sections import ChatSessionSettings

_ASKED = ("input", "instruct", "info")


@dataclass(slots=True)
class _Recorded:
    """A request of a session, and what was recorded of it."""

    session_id: str
    prompt: Prompt
    position: int = -1
    messages: list[ChatMessage] = field(default_factory=list[ChatMessage])


@dataclass(frozen=True, slots=True)
class _Choice:
    """The session that was activated here; None if it was stopped."""

    session_id: str | None


class ChatSessionExtension(RecordPathsExtension):
    """An agent extension: chat sessions by id, several at a time.

    Each task and each thread uses the session that it activated, otherwise the one that was activated last.
    The agent's prompt shows the history of the session that was activated last. The setting
    `chat_session.token_budget` limits the history that is sent; the oldest turns are left out first.

    >>> class Chatter(ChatSessionExtension, Agent): ...
    >>> agent = Chatter()
    >>> agent.activate_chat_session("ann")
    'ann'
    >>> agent.input("I am Ann.").start()
    'Welcome.'
    >>> [message["role"] for message in agent.agent_prompt["chat_history"]]
    ['user', 'assistant']
    """

    def set_up(self) -> None:
        """Record every request at its end."""
        super().set_up()
        self._store: ChatStore = MemoryChatStore()
        self._shown: str | None = None
        self._chosen: ContextValue[_Choice] = ContextValue()
        self._history_before: Any = None
        self._turns: WeakKeyDictionary[Settings, _Recorded] = WeakKeyDictionary()
        self._recording = threading.RLock()
        self.extension_handlers.append("finally", self._record)

    def use_chat_store(self, store: ChatStore) -> Self:
        """Keep sessions in a store, such as a `FolderChatStore`, which survives the process.

        >>> ChatSessionExtension().use_chat_store(FolderChatStore("chats")).activate_chat_session("ann")
        'ann'
        """
        self._store = store
        return self

    @property
    def chat_session_id(self) -> str | None:
        """The active session, if any."""
        chosen = self._chosen.get()
        return self._shown if chosen is None else chosen.session_id

    def activate_chat_session(self, chat_session_id: str | None = None) -> str:
        """Continue a session, or start a new one, and return its id.

        >>> agent = ChatSessionExtension()
        >>> ann, bob = agent.activate_chat_session(), agent.activate_chat_session("bob")
        >>> agent.chat_session_id
        'bob'
        """
        session_id = chat_session_id or uuid4().hex
        with self._recording:
            history = self._store.load(session_id)
            if self._shown is None:
                self._history_before = self.agent_prompt.get("chat_history")
            self._chosen.set(_Choice(session_id))
            self._show(session_id, history)
        return session_id

    def stop_chat_session(self) -> Self:
        """Stop recording, and restore the agent's own history.

        >>> agent = ChatSessionExtension()
        >>> session_id = agent.activate_chat_session("ann")
        >>> agent.add_chat_history({"role": "user", "content": "Hi."}).stop_chat_session().agent_prompt
        Prompt({})
        """
        with self._recording:
            if self.chat_session_id == self._shown and self._shown is not None:
                self._shown = None
                self.agent_prompt.delete("chat_history")
                if self._history_before is not None:
                    self.agent_prompt.replace("chat_history", self._history_before)
            self._chosen.set(_Choice(None))
        return self

    def set_chat_history(self, history: ChatMessage | Iterable[ChatMessage]) -> Self:
        """Replace the history of the active session, otherwise of the agent, by these messages.

        >>> agent = ChatSessionExtension()
        >>> session_id = agent.activate_chat_session("ann")
        >>> agent.set_chat_history({"role": "user", "content": "I am Ann."}).agent_prompt["chat_history"]
        [{'role': 'user', 'content': 'I am Ann.'}]
        """
        session_id = self.chat_session_id
        if session_id is None:
            return super().set_chat_history(history)
        self._save(session_id, list_messages(history))
        return self

    def add_chat_history(self, history: ChatMessage | Iterable[ChatMessage]) -> Self:
        """Add messages to the history of the active session, otherwise of the agent.

        >>> store = FolderChatStore("chats")
        >>> agent = ChatSessionExtension().use_chat_store(store)
        >>> session_id = agent.activate_chat_session("ann")
        >>> agent = agent.add_chat_history([{"role": "user", "content": "I am Ann."}])
        >>> store.load("ann")
        [{'role': 'user', 'content': 'I am Ann.'}]
        """
        session_id = self.chat_session_id
        if session_id is None:
            return super().add_chat_history(history)
        with self._recording, STORING:
            self._save(session_id, [*self._store.load(session_id), *list_messages(history)])
        return self

    def reset_chat_history(self) -> Self:
        """Clear the history of the active session, otherwise of the agent.

        >>> agent = ChatSessionExtension()
        >>> session_id = agent.activate_chat_session("ann")
        >>> agent.add_chat_history({"role": "user", "content": "Hi."}).reset_chat_history().agent_prompt
        Prompt({'chat_history': []})
        """
        if self.chat_session_id is None:
            return super().reset_chat_history()
        return self.set_chat_history([])

    def _take_request(self) -> AgentRequest:
        with self._recording:  # no other user may change what the agent's prompt shows in between
            session_id = self.chat_session_id
            own = self.request_prompt.get("chat_history", inherit=False)
            request = super()._take_request()
            if session_id != self._shown:
                before = list_messages(self._history_before)
                history = before if session_id is None else self._fit(self._store.load(session_id))
                request.prompt.replace("chat_history", [*history, *list_messages(own)])
        if session_id is not None:
            self._turns[request.settings] = _Recorded(session_id, request.prompt)
        return request

    async def _record(self, result: Result[Any], settings: Settings) -> None:
        turn = self._turns.get(settings)
        if turn is not None and result.finish is not None:
            messages = _write_turn(turn.prompt, await result.read_ahead(), settings)
            await asyncio.to_thread(self._save_turn, turn, messages)

    def _save_turn(self, turn: _Recorded, messages: list[ChatMessage]) -> None:
        """Append the turn; a second try of the same request replaces the first."""
        with self._recording, STORING:
            history = self._store.load(turn.session_id)
            end = turn.position + len(turn.messages)
            if turn.messages and history[turn.position : end] == turn.messages:
                history[turn.position : end] = messages
            else:
                turn.position = len(history)
                history += messages
            turn.messages = messages
            self._save(turn.session_id, history)

    def _save(self, session_id: str, history: list[ChatMessage]) -> None:
        with self._recording:
            self._store.save(session_id, history)
            if session_id == self._shown:
                self._show(session_id, history)

    def _show(self, session_id: str, history: list[ChatMessage]) -> None:
        """Show a session's history in the agent's prompt."""
        self._shown = session_id
        self.agent_prompt.replace("chat_history", self._fit(history))

    def _fit(self, history: list[ChatMessage]) -> list[ChatMessage]:
        """Return the part of the history that fits into the budget."""
        return fit_history(history, self.settings.section(ChatSessionSettings).token_budget)


def _write_turn(prompt: Prompt, result: Result[Any], settings: Settings) -> list[ChatMessage]:
    asked = _write_asked(prompt, settings)
    answer = record_output(result.parsed, get_output_paths(settings), get_mode(settings, "output"))
    messages: list[ChatMessage] = [] if asked is None else [{"role": "user", "content": asked}]
    return [*messages, {"role": "assistant", "content": result.text if answer is None else answer}]


def _write_asked(prompt: Prompt, settings: Settings) -> str | None:
    recorded = record_input(prompt.get(), get_input_paths(settings), get_mode(settings, "input"))
    if recorded is not None:
        return recorded
    whole = next((prompt.get(slot) for slot in _ASKED if prompt.get(slot)), None)
    return None if whole is None else write_value(whole)
