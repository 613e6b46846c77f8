"""What a scripted model says: replies, taken in order.

`ScriptedRequester` plays a script without a network, `dovetail.testing.ScriptedServer` plays it over HTTP.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from dovetail.data.shapes import is_mapping
from dovetail.data.text import to_text
from dovetail.errors import ConfigError
from dovetail.messages.request import ModelRequest
from dovetail.requesters.script.fields import read_reply, read_step
from dovetail.requesters.script.gate import Gate
from dovetail.requesters.script.reply import Reply, Step

Scripted: TypeAlias = (
    str
    | Sequence[Step | Mapping[str, Any]]
    | Mapping[str, Any]
    | Exception
    | Reply
    | Callable[[ModelRequest], Any]
)
"""A reply as scripts write it: text, a list of steps, the fields of a `Reply`, an error, or a function."""


class Script:
    """Hands out replies: first those whose `when` fits, otherwise the next one in order."""

    def __init__(self, replies: Iterable[Scripted]) -> None:
        self._lock = threading.Lock()
        self._replies = list(replies)
        self._gates: dict[str, Gate] = {}
        self._taken = 0

    def add(self, *replies: Scripted) -> None:
        """Append replies."""
        with self._lock:
            self._replies.extend(replies)

    def clear(self) -> int:
        """Drop the replies that are left; returns how many there were."""
        with self._lock:
            left = len(self._replies)
            self._replies.clear()
        return left

    def gate(self, name: str) -> Gate:
        """The gate that steps of the form `{"hold": name}` wait at."""
        return self._gates.setdefault(name, Gate(name))

    @property
    def unused(self) -> list[Scripted]:
        """The replies that nobody has asked for."""
        return [reply for reply in self._replies if not _read_option(reply, "repeat")]

    def take(self, request: ModelRequest) -> Reply:
        """The reply for this request."""
        said = last_text(request)
        with self._lock:
            self._taken += 1
            place = self._find(said)
            if place is None:
                raise ConfigError(
                    f"request {self._taken} has no reply in the script; its last message is {said[:200]!r}",
                    hint="Add a reply to the script, or find out why one more request was made.",
                )
            repeat = _read_option(self._replies[place], "repeat")
            value = self._replies[place] if repeat else self._replies.pop(place)
        return self._read(value, request)

    def _find(self, said: str) -> int | None:
        plain = None
        for place, reply in enumerate(self._replies):
            when = _read_option(reply, "when")
            if when is None:
                plain = place if plain is None else plain
            elif when in said:
                return place
        return plain

    def _read(self, value: Scripted, request: ModelRequest) -> Reply:
        if isinstance(value, Reply):
            return value
        if isinstance(value, str):
            return Reply(text=value)
        if isinstance(value, Exception):
            return Reply(steps=[value])
        if is_mapping(value):
            return read_reply(value, self.gate)
        if callable(value):
            return self._read(value(request), request)
        return Reply(steps=[read_step(step, self.gate) for step in value])


def last_text(request: ModelRequest) -> str:
    """The last message's text; what is not text, as JSON."""
    content = request.messages[-1].get("content") if request.messages else ""
    return to_text(content)


def _read_option(value: Scripted, name: Literal["when", "repeat"]) -> Any:
    if isinstance(value, Reply):
        return getattr(value, name)
    return value.get(name) if is_mapping(value) else None
