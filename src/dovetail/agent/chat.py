"""`agent.chat("ann")`: a conversation of several runs, in which each continues the one before."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from dovetail.agent.base import list_messages
from dovetail.agent.extensions.chat_store import STORING, ChatStore, fit_history
from dovetail.agent.run import AgentRun, RunOptions, RunStream, check_options
from dovetail.concurrency import run_sync, warn_if_blocking
from dovetail.data.text import explain_attribute
from dovetail.events.call import ChatMessage
from dovetail.events.run_result import RunResult
from dovetail.settings import Settings
from dovetail.settings.sections import ChatSessionSettings

if TYPE_CHECKING:
    from typing_extensions import TypeForm, TypeVar

    V = TypeVar("V", default=Any)

MakeRun: TypeAlias = Callable[[Any, Any, RunOptions], AgentRun[Any]]
"""Prepares a run of an agent from its task, its type and its options."""

_ANY: Any = None

_MEANT = {
    **dict.fromkeys(("ask", "input", "invoke", "run_sync", "send", "send_message", "start"), "chat.run('…')"),
    **dict.fromkeys(("ainvoke", "arun", "async_start"), "await chat.async_run('…')"),
    **dict.fromkeys(("get_generator", "stream"), "chat.run_stream('…')"),
    **dict.fromkeys(("chat_history", "history"), "chat.messages"),
    **dict.fromkeys(("output", "returns"), "chat.run('…', returns=Model)"),
    **dict.fromkeys(("delete", "reset", "reset_chat_history"), "chat.clear()"),
}
"""The names of agents and of other libraries, and how to write the same thing here."""


class Chat:
    """A conversation with an agent, by its id: the model reads what was said and what its tools returned.

    A run that fails leaves the conversation as it was. The setting `chat_session.token_budget` limits what is
    sent; the oldest turns are left out first.

    >>> chat = Agent(system="Be brief.").chat("ann")
    >>> chat.run("A wood for doors?").text
    'Oak.'
    >>> [message["content"] for message in chat.messages]
    ['A wood for doors?', 'Oak.']
    """

    def __init__(self, chat_id: str, store: ChatStore, settings: Settings, make_run: MakeRun) -> None:
        self.id = chat_id
        self._store = store
        self._settings = settings
        self._make_run = make_run

    def __repr__(self) -> str:
        return f"Chat({self.id!r}, {len(self.messages)} messages)"

    if not TYPE_CHECKING:  # type checkers know which attributes exist

        def __getattr__(self, name: str) -> Any:
            """Name the method that does what one of an agent, or of another library, would do."""
            raise AttributeError(explain_attribute("Chat", name, _MEANT), name=name, obj=self)

    @property
    def messages(self) -> list[ChatMessage]:
        """The conversation so far, each call of a tool with its result."""
        return self._store.load(self.id)

    def async_run(
        self, task: Any = None, *, returns: "TypeForm[V]" = _ANY, **options: Unpack[RunOptions]
    ) -> "Coroutine[object, None, RunResult[V]]":
        """Say something, and work on it turn after turn with the agent's tools, as `agent.async_run` does.

        >>> chat = Agent().chat("ann")
        >>> asyncio.run(chat.async_run("A wood for doors?")).text
        'Oak.'
        """
        return self._prepare(task, returns, options).go(options)

    def run(
        self, task: Any = None, *, returns: "TypeForm[V]" = _ANY, **options: Unpack[RunOptions]
    ) -> "RunResult[V]":
        """Say something, and work on it turn after turn with the agent's tools, as `agent.run` does.

        >>> chat = Agent().chat("ann", store=FolderChatStore("chats"))
        >>> chat.run("A wood for doors?", limits={"turns": 5}).text
        'Oak.'
        """
        warn_if_blocking("run()", "await chat.async_run('…')")
        return run_sync(self.async_run(task, returns=returns, **options))

    def run_stream(
        self, task: Any = None, *, returns: "TypeForm[V]" = _ANY, **options: Unpack[RunOptions]
    ) -> "RunStream[V]":
        """Say something, and yield what happens, as `agent.run_stream` does.

        >>> stream = Agent().chat("ann").run_stream("A wood for doors?")
        >>> "".join(event.delta for event in stream if event.type == "text-delta")
        'Oak.'
        """
        return RunStream(self._prepare(task, returns, options), options)

    def clear(self) -> None:
        """Forget the conversation.

        >>> chat = Agent().chat("ann")
        >>> answered = chat.run("A wood for doors?")
        >>> chat.clear()
        >>> chat.messages
        []
        """
        self._store.save(self.id, [])

    def _prepare(self, task: Any, returns: Any, options: RunOptions) -> AgentRun[Any]:
        check_options(options)
        said = [*self.messages, *list_messages(options.get("history"))]
        history = fit_history(said, self._settings.section(ChatSessionSettings).token_budget)
        run = self._make_run(task, returns, {**options, "history": history})
        run.at_end.append(self._record)
        return run

    async def _record(self, result: RunResult[Any]) -> None:
        if result.exception is None:
            await asyncio.to_thread(self._append, [*result.messages])

    def _append(self, messages: list[ChatMessage]) -> None:
        with STORING:
            self._store.save(self.id, [*self._store.load(self.id), *messages])
