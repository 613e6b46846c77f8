"""One request on its way from the prompt to the response, with the agent's handlers around it."""

import inspect
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias, TypeGuard, TypeVar, get_args

from dovetail.agent.expectation import Expectation
from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import explain_choices
from dovetail.errors import ConfigError, EmptyPromptError
from dovetail.events.call import ChatMessage, ModelRequest
from dovetail.events.delta import FinishDelta, Usage
from dovetail.prompt.prompt import Prompt
from dovetail.prompt.slots import is_empty
from dovetail.requesters.requester import Requester
from dovetail.requesters.tracing import stream_traced
from dovetail.response.log import LogEntry
from dovetail.response.response import Correction, Response
from dovetail.response.result import Result, write_correction
from dovetail.settings import Settings
from dovetail.settings.limits import LimitSettings
from dovetail.settings.sections import ResponseSettings

T = TypeVar("T")

SPENT = "request.spent"
"""The setting of a request in which handlers count the tokens of their own requests."""

REQUESTER = "request.requester"
"""The setting of a request that holds its requester, if limits guard it."""

TOOL_EVENTS = "request.tool_events"
"""The setting of a request that holds what is reported of its calls, as `(event, data)`."""

_EMPTY = (
    "Fill the request first: `agent.input('…').start()`. Each request is sent once, and the next one begins "
    "empty, except for what was set with `always=True`. To read one answer twice, keep `get_response()`."
)

HandlerName: TypeAlias = Literal["request_prefixes", "broadcast_prefixes", "broadcast_suffixes", "finally"]
Handler: TypeAlias = Callable[[Any, Any], Any]


class ExtensionHandlers:
    """The handlers of one agent, by name, in the order they were added."""

    def __init__(self) -> None:
        self._handlers: dict[str, list[Handler]] = {name: [] for name in get_args(HandlerName)}

    def append(self, name: HandlerName, handler: Handler) -> None:
        """Add a handler after the others."""
        self._get(name).append(handler)

    def remove(self, name: HandlerName, handler: Handler) -> None:
        """Remove a handler, if it is registered."""
        if handler in self._get(name):
            self._get(name).remove(handler)

    def get(self, name: HandlerName) -> tuple[Handler, ...]:
        """Return the handlers of that name."""
        return tuple(self._get(name))

    def _get(self, name: str) -> list[Handler]:
        if name not in self._handlers:
            raise ConfigError(explain_choices("extension handler", name, self._handlers))
        return self._handlers[name]


async def run_handlers(handlers: Iterable[Handler], first: Any, second: Any) -> AsyncGenerator[Any, None]:
    """Run handlers one after the other; yield everything that they yield or return, except for None."""
    for handler in handlers:
        outcome = handler(first, second)
        if inspect.isawaitable(outcome):
            outcome = await outcome
        if _is_async_items(outcome):
            async for item in outcome:
                yield item
        elif inspect.isgenerator(outcome):
            for item in outcome:
                yield item
        elif outcome is not None:
            yield outcome


def _is_async_items(outcome: object) -> TypeGuard[AsyncIterable[Any]]:
    return inspect.isasyncgen(outcome)


class NativeTools(Protocol):
    """Tools that the model calls by itself while it answers."""

    def stream(
        self, request: ModelRequest, result_data: dict[str, Any]
    ) -> AsyncGenerator[LogEntry, None]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """Everything one request needs; `prompt` and `settings` are its own, so handlers may change them."""

    prompt: Prompt
    settings: Settings
    requester: Requester
    handlers: ExtensionHandlers
    native: NativeTools | None = None
    """The tools that the model calls by itself, if any."""
    result_data: dict[str, Any] = field(default_factory=dict[str, Any])

    def open(self, expected: Expectation[T], timeout: float | None = None) -> Response[T]:
        """Return the response; the request is sent when it is first read."""
        settings = self.settings.section(ResponseSettings)
        response = Response(
            partial(self._send, expected.schema),
            expected.format,
            timeout=settings.timeout if timeout is None else timeout,
            max_retries=settings.max_retries,
            at_end=self._finish,
        )
        self.result_data["extra"] = response.extra
        return response

    async def _send(
        self, schema: Mapping[str, Any] | None, correction: Correction | None
    ) -> AsyncGenerator[LogEntry, None]:
        if correction is None:
            async for _ in run_handlers(self.handlers.get("request_prefixes"), self.prompt, self.settings):
                pass
        for_broadcast = (self.result_data, self.settings)
        async for pair in run_handlers(self.handlers.get("broadcast_prefixes"), *for_broadcast):
            yield pair
        spent: Usage | None = correction.spent if correction else self.settings.get(SPENT)
        async with aclosing(self._answer(self.build(schema, correction))) as entries:
            async for entry in entries:
                yield self._complete(entry, spent) if isinstance(entry, FinishDelta) else entry
        async for pair in run_handlers(self.handlers.get("broadcast_suffixes"), *for_broadcast):
            yield pair

    def _complete(self, finish: FinishDelta, spent: Usage | None) -> FinishDelta:
        """Return the end of the answer with the model that was asked, and what was spent before it."""
        if spent is not None:
            self.settings.delete(SPENT)
            finish = replace(finish, usage=finish.usage + spent)
        return finish if finish.requested else replace(finish, requested=self.requester.model)

    def _answer(self, request: ModelRequest) -> AsyncGenerator[LogEntry, None]:
        if self.native is None:
            return stream_traced(self.requester, request)
        return self.native.stream(request, self.result_data)

    async def _finish(self, result: Result[Any]) -> None:
        async for _ in run_handlers(self.handlers.get("finally"), result, self.settings):
            pass

    def build(
        self, schema: Mapping[str, Any] | None = None, correction: Correction | None = None
    ) -> ModelRequest:
        """Build the request to the model; a correction explains why its last answer was rejected."""
        prompt = self.prompt
        before, asked = self.write_messages()
        messages: list[ChatMessage] = [*before, *asked]
        if correction is not None:
            messages.append({"role": "assistant", "content": correction.reply})
            messages.append({"role": "user", "content": write_correction(correction.problem)})
        return ModelRequest(
            messages=messages,
            model=self.requester.model,
            schema=schema,
            options=prompt.get("options") or {},
            sizes=self.settings.section(LimitSettings).answer,
        )

    def write_messages(self, remedy: str = _EMPTY) -> tuple[list[ChatMessage], list[ChatMessage]]:
        """Return the messages of the prompt: what was there before, and what is asked now.

        A history with calls and their results goes to the model as it is: words could not say it. `remedy`
        is the hint for an empty prompt.
        """
        prompt, history = self.prompt, self.prompt.get("chat_history")
        is_rich = _is_rich(prompt)
        first = sum(not is_empty(prompt.get(slot)) for slot in ("system", "developer"))
        try:
            if not history:
                messages: list[ChatMessage] = [*prompt.to_messages(rich_content=is_rich)]
                return messages[:first], messages[first:]
            rest = {slot: value for slot, value in prompt.get().items() if slot != "chat_history"}
            plain = Prompt(rest, settings=prompt.settings).to_messages(rich_content=is_rich)
            if _has_calls(history):
                return [*plain[:first], *history], [*plain[first:]]
            whole = prompt.to_messages(rich_content=is_rich)
        except EmptyPromptError as error:
            raise EmptyPromptError(error.message, hint=remedy) from error
        asked = plain[first:]
        return [*whole[: len(whole) - len(asked)]], [*asked]


def _has_calls(history: Any) -> bool:
    """Return whether a history has calls of tools, as the messages of a run have."""
    return is_list(history) and any(
        is_mapping(entry) and (entry.get("role") == "tool" or entry.get("tool_calls")) for entry in history
    )


def _is_rich(prompt: Prompt) -> bool:
    """Return whether the prompt has anything but text."""
    if prompt.get("attachment"):
        return True
    history = prompt.get("chat_history")
    return is_list(history) and any(is_mapping(entry) and is_list(entry.get("content")) for entry in history)
