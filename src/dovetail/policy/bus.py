"""The message bus: publish messages, ask questions, receive answers.

A derived bus belongs to a sub-agent. Everything it sends carries the sub-agent's path; it receives only its
own messages and those below it, cannot answer, and cannot publish reserved topics: a sub-agent that was
manipulated cannot forge a decision.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dovetail.concurrency import find_running_loop
from dovetail.data.shapes import is_mapping, is_number
from dovetail.errors import ConfigError, NotFoundError
from dovetail.events.asks import TIMEOUT, OpenAsk, OpenAsks
from dovetail.events.run_events import AskKind

logger = logging.getLogger(__name__)

RESERVED = frozenset({"ask-request", "ask-answer", "policy-update", "audit"})
"""Topics that only the bus itself publishes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message on the bus; `path` is that of the sub-agent it comes from, empty for the app's own.

    >>> Message(topic="audit", payload={"tool": "shell"}, path=("main", "scout")).path[-1]
    'scout'
    """

    topic: str
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    path: tuple[str, ...] = ()


Handler: TypeAlias = Callable[[Message], object]
"""Handle a message; a coroutine function runs as a task of the running event loop."""


@dataclass(slots=True)
class _Hub:
    """The state that a bus shares with all buses derived from it."""

    handlers: dict[str, list[Handler]] = field(default_factory=dict[str, list[Handler]])
    asks: OpenAsks = field(default_factory=OpenAsks)
    tasks: set["asyncio.Task[Any]"] = field(default_factory=set["asyncio.Task[Any]"])


class MessageBus:
    """Publish messages to subscribers, and carry questions to listeners that can answer them.

    >>> bus = MessageBus()
    >>> unsubscribe = bus.subscribe("stock", lambda message: print(message.payload["item"]))
    >>> bus.publish("stock", {"item": "saw"})
    saw
    """

    def __init__(self) -> None:
        self._hub = _Hub()
        self._path: tuple[str, ...] = ()

    @property
    def path(self) -> tuple[str, ...]:
        """The path of the sub-agent that this bus belongs to; empty for the app's own bus."""
        return self._path

    @property
    def asks(self) -> list[OpenAsk]:
        """The open questions of this bus and the buses below it."""
        depth = len(self._path)
        return [ask for ask in self._hub.asks if ask.is_open and ask.path[:depth] == self._path]

    def derive(self, name: str) -> "MessageBus":
        """Return a bus for a sub-agent: the same subscribers, a longer path, no right to answer."""
        if not name or "/" in name:
            raise ConfigError(f"Invalid name {name!r} of a derived bus: it must be a word without '/'.")
        bus = MessageBus()
        bus._hub = self._hub
        bus._path = (*self._path, name)
        return bus

    def subscribe(self, topic: str, handler: Handler) -> Callable[[], None]:
        """Call `handler` for each message of a topic (`*`: all); return a function that unsubscribes it."""
        handlers = self._hub.handlers.setdefault(topic, [])
        path = self._path

        def hear(message: Message) -> object:
            return handler(message) if message.path[: len(path)] == path else None

        def unsubscribe() -> None:
            if hear in handlers:
                handlers.remove(hear)

        handlers.append(hear)
        return unsubscribe

    def has_subscribers(self, topic: str) -> bool:
        """Whether this topic, or `*`, has subscribers."""
        return bool(self._hub.handlers.get(topic) or self._hub.handlers.get("*"))

    @property
    def can_be_asked(self) -> bool:
        """Whether questions have a listener; subscribers of `*` only watch."""
        return bool(self._hub.handlers.get("ask-request"))

    def publish_audit(self, record: Mapping[str, Any]) -> None:
        """Publish the record of one call as `audit`; only the tool pipeline does this."""
        self._send(Message(topic="audit", payload=record, path=self._path))

    def publish(self, topic: str, payload: Mapping[str, Any] | None = None) -> None:
        """Send a message to all subscribers; one that fails does not stop the others."""
        if topic in RESERVED:
            raise ConfigError(f"Topic {topic!r} is reserved.")
        self._send(Message(topic=topic, payload=payload or {}, path=self._path))

    async def ask(
        self,
        kind: AskKind,
        call_id: str,
        payload: Mapping[str, Any],
        timeout: float | None = None,  # noqa: ASYNC109 - the name that the contract of `ask` gives it
    ) -> Mapping[str, Any]:
        """Ask and wait for the answer; refused at once without a listener."""
        if timeout is not None and not is_number(timeout):
            raise ConfigError(f"The timeout must be a finite number of seconds or None, got {timeout!r}.")
        if not self.has_subscribers("ask-request"):
            return {"approved": False, "status": "no_listener", "value": "no listener for questions"}
        ask = OpenAsk(kind=kind, call_id=call_id, payload=payload, timeout=timeout, path=self._path)
        with self.carry(ask) as heard:
            if not heard:
                return {"approved": False, "status": "no_listener", "value": "every listener failed"}
            return await ask.wait()

    @contextmanager
    def carry(self, ask: OpenAsk) -> Generator[int]:
        """Publish an ask while it waits, so that listeners can answer it; yield how many received it.

        An answer is published as `ask-answer`, also if it came another way.
        """

        def publish_answer(future: "asyncio.Future[Mapping[str, Any]]") -> None:
            if not future.cancelled() and (value := future.result()) is not TIMEOUT:
                payload = {"ask_id": ask.ask_id, "value": value}
                self._send(Message(topic="ask-answer", payload=payload, path=ask.path))

        ask.future.add_done_callback(publish_answer)
        with self._hub.asks.opened(ask):
            yield self._send(Message(topic="ask-request", payload=_describe(ask), path=self._path))

    def answer(self, ask_id: str, value: Mapping[str, Any]) -> None:
        """Answer a question, from any thread; each has one answer.

        Raises:
            NotFoundError: the question has already been answered, has ended or does not exist.
            ConfigError: this bus belongs to a sub-agent, or the answer is not a mapping.
        """
        if not is_mapping(value):
            raise ConfigError(f'An answer must be a mapping such as {{"approved": True}}, got {value!r}.')
        if self._path:
            raise ConfigError(
                f"The bus of {'/'.join(self._path)!r} belongs to a sub-agent and cannot answer."
            )
        ask = self._hub.asks.get(ask_id)
        if ask is None or not ask.answer(dict(value), is_from_listener=True):
            known = ", ".join(ask.ask_id for ask in self.asks)
            raise NotFoundError(f"No open question {ask_id!r}. Open: {known or 'none'}.")

    def _send(self, message: Message) -> int:
        """Send a message to all subscribers; return how many of them did not fail."""
        heard = 0
        for handler in [*self._hub.handlers.get(message.topic, ()), *self._hub.handlers.get("*", ())]:
            try:
                result = handler(message)
                if inspect.iscoroutine(result):
                    self._finish(result, message.topic)
                heard += 1
            except Exception:
                logger.exception("a subscriber of %r failed", message.topic)
        return heard

    def _finish(self, coroutine: Coroutine[Any, Any, Any], topic: str) -> None:
        """Run a subscriber that is a coroutine function as a task."""
        if find_running_loop() is None:
            coroutine.close()
            raise ConfigError(f"Cannot call a coroutine function for {topic!r}: no event loop is running.")

        def note_end(task: "asyncio.Task[Any]") -> None:
            self._hub.tasks.discard(task)
            if not task.cancelled() and (error := task.exception()) is not None:
                logger.error("a subscriber of %r failed", topic, exc_info=error)

        task = asyncio.create_task(coroutine)
        self._hub.tasks.add(task)
        task.add_done_callback(note_end)


def _describe(ask: OpenAsk) -> dict[str, Any]:
    return {
        "ask_id": ask.ask_id,
        "kind": ask.kind,
        "call_id": ask.call_id,
        "payload": ask.payload,
        "timeout": ask.timeout,
        "path": list(ask.path),
    }
