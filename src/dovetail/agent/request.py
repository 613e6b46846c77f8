"""One request on its way from the prompt to the response, with the agent's handlers around it."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from dovetail.agent.expectation import Expectation
from dovetail.agent.handlers import ExtensionHandlers, run_handlers
from dovetail.agent.native import NativeTools
from dovetail.agent.tracing import describe_finish, request_span
from dovetail.data.shapes import is_list, is_mapping
from dovetail.messages.delta import FinishDelta, Usage
from dovetail.messages.request import ChatMessage, ModelRequest
from dovetail.prompt.prompt import Prompt
from dovetail.requesters.border import clean_deltas
from dovetail.requesters.requester import Requester
from dovetail.response.log import Entry
from dovetail.response.response import Correction, Response
from dovetail.response.result import Result
from dovetail.settings import Settings
from dovetail.tracing import record

T = TypeVar("T")

SPENT = "request.spent"
"""The setting of a request in which handlers count the tokens of requests that they made for it."""

_CORRECTION = (
    "Your last answer cannot be used: {problem}. "
    "Give the whole answer again, complete and in the format that was asked for, and nothing else."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """Everything one request needs; `prompt` and `settings` are its own, so handlers may change them."""

    prompt: Prompt
    settings: Settings
    requester: Requester
    handlers: ExtensionHandlers
    native: NativeTools | None = None
    result_data: dict[str, Any] = field(default_factory=dict[str, Any])

    def open(self, expected: Expectation[T], timeout: float | None = None) -> Response[T]:
        """The response; the request is sent when somebody reads it."""
        response = Response(
            partial(self._send, expected.schema),
            expected.shape,
            timeout=self.settings.get("response.timeout") if timeout is None else timeout,
            max_retries=self.settings.get("response.max_retries", 3),
            at_end=self._finish,
        )
        self.result_data["extra"] = response.extra
        return response

    async def _send(
        self, schema: Mapping[str, Any] | None, correction: Correction | None
    ) -> AsyncGenerator[Entry, None]:
        if correction is None:
            async for _ in run_handlers(self.handlers.get("request_prefixes"), self.prompt, self.settings):
                pass
        for_broadcast = (self.result_data, self.settings)
        async for pair in run_handlers(self.handlers.get("broadcast_prefixes"), *for_broadcast):
            yield pair
        spent: Usage | None = self.settings.get(SPENT)
        async with aclosing(self._answer(self.build(schema, correction))) as entries:
            async for entry in entries:
                if spent is not None and isinstance(entry, FinishDelta):
                    self.settings.delete(SPENT)
                    yield replace(entry, usage=entry.usage + spent)
                else:
                    yield entry
        async for pair in run_handlers(self.handlers.get("broadcast_suffixes"), *for_broadcast):
            yield pair

    def _answer(self, request: ModelRequest) -> AsyncGenerator[Entry, None]:
        if self.native is None:
            return self._stream(request)
        return self.native.stream(request, self._stream, self.result_data)

    async def _stream(self, request: ModelRequest) -> AsyncGenerator[Any, None]:
        with request_span(self.requester.model) as span:
            async with aclosing(clean_deltas(self.requester.stream(request))) as deltas:
                async for delta in deltas:
                    if isinstance(delta, FinishDelta):
                        record(span, describe_finish(delta))
                    yield delta

    async def _finish(self, result: Result[Any]) -> None:
        async for _ in run_handlers(self.handlers.get("finally"), result, self.settings):
            pass

    def build(
        self, schema: Mapping[str, Any] | None = None, correction: Correction | None = None
    ) -> ModelRequest:
        """What is sent to the model; a correction tells it why its last answer will not do."""
        prompt = self.prompt
        messages: list[ChatMessage] = [*prompt.to_messages(rich_content=_is_rich(prompt))]
        if correction is not None:
            messages.append({"role": "assistant", "content": correction.reply})
            messages.append({"role": "user", "content": _CORRECTION.format(problem=correction.problem)})
        return ModelRequest(
            messages=messages,
            model=self.requester.model,
            schema=schema,
            options=prompt.get("options") or {},
        )


def _is_rich(prompt: Prompt) -> bool:
    """Whether there is anything but text to send."""
    if prompt.get("attachment"):
        return True
    history = prompt.get("chat_history")
    return is_list(history) and any(is_mapping(entry) and is_list(entry.get("content")) for entry in history)
