"""The message bus: notices out, questions out, answers in.

A derived bus belongs to a sub-agent. Whatever it sends carries the sub-agent's path, it hears only itself and
what is below it, it can answer nothing and cannot send what the bus alone may say: a sub-agent that is talked
into something cannot forge a decision.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dovetail.concurrency import find_running_loop
from dovetail.data.numbers import is_number
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError, NotFoundError
from dovetail.events.asks import TIMEOUT, OpenAsk, OpenAsks
from dovetail.events.run_events import AskKind

logger = logging.getLogger(__name__)

RESERVED = frozenset({"ask-request", "ask-answer", "policy-update", "audit"})
"""Topics that only the bus itself sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One notice on the bus; `path` names the sub-agent it comes from, and is empty for the app's own."""

    topic: str
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    path: tuple[str, ...] = ()


Handler: TypeAlias = Callable[[Message], object]
"""Takes messages; what a coroutine function returns runs as a task of the running event loop."""


@dataclass(slots=True)
class _Hub:
    """What a bus and all buses derived from it share."""

    handlers: dict[str, list[Handler]] = field(default_factory=dict[str, list[Handler]])
    asks: OpenAsks = field(default_factory=OpenAsks)
    tasks: set["asyncio.Task[Any]"] = field(default_factory=set["asyncio.Task[Any]"])


class MessageBus:
    """Publishes notices to subscribers and carries questions to whoever answers them."""

    def __init__(self) -> None:
        self._hub = _Hub()
        self._path: tuple[str, ...] = ()

    @property
    def path(self) -> tuple[str, ...]:
        """The path of the sub-agent that this bus belongs to; empty for the app's own bus."""
        return self._path

    @property
    def asks(self) -> list[OpenAsk]:
        """The questions that are open, here and below."""
        depth = len(self._path)
        return [ask for ask in self._hub.asks if ask.is_open and ask.path[:depth] == self._path]

    def derive(self, name: str) -> "MessageBus":
        """A bus for a sub-agent: the same subscribers, a longer path, and no right to answer."""
        if not name or "/" in name:
            raise ConfigError(f"Invalid name {name!r} of a derived bus: it must be a word without '/'.")
        bus = MessageBus()
        bus._hub = self._hub
        bus._path = (*self._path, name)
        return bus

    def subscribe(self, topic: str, handler: Handler) -> Callable[[], None]:
        """Have `handler` called for each message of a topic (`*`: of all); gives what ends that."""
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
        """Whether anything listens to this topic, or to all of them."""
        return bool(self._hub.handlers.get(topic) or self._hub.handlers.get("*"))

    @property
    def can_be_asked(self) -> bool:
        """Whether anything listens for questions; who follows all topics only watches."""
        return bool(self._hub.handlers.get("ask-request"))

    def publish_audit(self, record: Mapping[str, Any]) -> None:
        """Send the record of one call (`audit`); only the pipeline that runs calls does this."""
        self._send(Message(topic="audit", payload=record, path=self._path))

    def publish(self, topic: str, payload: Mapping[str, Any] | None = None) -> None:
        """Tell all subscribers; one that fails does not keep the others from hearing."""
        if topic in RESERVED:
            raise ConfigError(f"{topic!r} is sent by the bus alone")
        self._send(Message(topic=topic, payload=payload or {}, path=self._path))

    async def ask(
        self,
        kind: AskKind,
        call_id: str,
        payload: Mapping[str, Any],
        timeout: float | None = None,  # noqa: ASYNC109 - the name that the contract of `ask` gives it
    ) -> Mapping[str, Any]:
        """Ask and wait for the answer; at once a refusal when nobody listens for questions."""
        if timeout is not None and not is_number(timeout):
            raise ConfigError(f"The timeout must be a finite number of seconds or None, got {timeout!r}.")
        if not self.has_subscribers("ask-request"):
            return {"approved": False, "status": "nobody", "value": "nothing listens for questions"}
        ask = OpenAsk(kind=kind, call_id=call_id, payload=payload, timeout=timeout, path=self._path)
        with self.carry(ask) as heard:
            if not heard:
                return {"approved": False, "status": "nobody", "value": "every listener failed"}
            return await ask.wait()

    @contextmanager
    def carry(self, ask: OpenAsk) -> Generator[int]:
        """Put an ask on the bus while it waits: listeners hear it and may answer; yields how many heard it.

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
            NotFoundError: the question is answered, has ended or never was.
            ConfigError: this bus belongs to a sub-agent, or the answer is not a mapping.
        """
        if not is_mapping(value):
            raise ConfigError(f'An answer must be a mapping such as {{"approved": True}}, got {value!r}.')
        if self._path:
            raise ConfigError(f"the bus of {'/'.join(self._path)!r} belongs to a sub-agent and cannot answer")
        ask = self._hub.asks.get(ask_id)
        if ask is None or not ask.answer(dict(value)):
            known = ", ".join(ask.ask_id for ask in self.asks)
            raise NotFoundError(f"No open question {ask_id!r}. Open: {known or 'none'}.")

    def _send(self, message: Message) -> int:
        """Tell all subscribers; how many of them did not fail."""
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
        """Let a subscriber that is a coroutine function run next to the others."""
        if find_running_loop() is None:
            coroutine.close()
            raise ConfigError(f"A coroutine function cannot hear {topic!r} outside of an event loop.")

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
