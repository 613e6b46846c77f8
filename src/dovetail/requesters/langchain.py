"""Any LangChain chat model as a requester."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from dovetail.data.secrets import hide
from dovetail.data.shapes import read_count
from dovetail.errors import ContextLengthError, ModelError, TransientModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta, FinishDelta, ReasoningDelta, TextDelta, Usage
from dovetail.lazy import lazy
from dovetail.requesters.content import build_messages
from dovetail.requesters.known_models import find_known
from dovetail.requesters.limits import TimeLimits
from dovetail.requesters.openai.body import build_tool
from dovetail.requesters.openai.format import CallPieces
from dovetail.requesters.overflow import is_overflow
from dovetail.requesters.prices import Pricing
from dovetail.requesters.refusal import is_transient

chat_models = lazy("langchain_core.language_models.chat_models", extra="langchain")
messages = lazy("langchain_core.messages", extra="langchain")
_REASONS = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content-filter",
    "refusal": "content-filter",
    "safety": "content-filter",
    "tool_calls": "tool-calls",
    "tool_use": "tool-calls",
    "function_call": "tool-calls",
}
_PACKAGES = {"google_genai": "google", "google_vertexai": "google", "mistralai": "mistral", "aws": "bedrock"}
_REASON_NAMES = ("finish_reason", "stop_reason", "done_reason", "stopReason")


class LangchainRequester:
    """A LangChain chat model as a requester; retries and keys are left to the chat model."""

    follows_schema = False
    """LangChain has no common way to make a streamed answer follow a schema."""

    def __init__(
        self, chat_model: Any, *, limits: TimeLimits | None = None, price: Pricing | None = None
    ) -> None:
        self._chat_model = chat_model
        self._limits = limits or TimeLimits()
        self._price = price

    def __repr__(self) -> str:
        return f"LangchainRequester({self.model!r})"

    @property
    def model(self) -> str:
        """The model's name, `langchain:<name>`."""
        return name_model(self._chat_model)

    @property
    def context_tokens(self) -> int | None:
        """The context window, if it is published."""
        known = find_known(name_publicly(self._chat_model))
        return None if known is None else known.context_window

    @property
    def calls_tools(self) -> bool:
        """Whether the chat model accepts tools."""
        return self._chat_model.__class__.bind_tools is not chat_models.BaseChatModel.bind_tools

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the answer's deltas as they arrive."""
        reader = ChunkReader(self._price)
        async with aclosing(self._read_chunks(request)) as chunks:
            async for chunk in chunks:
                for delta in reader.read(chunk):
                    yield delta
        yield reader.finish()

    async def close(self) -> None:
        """Do nothing: the chat model belongs to its creator."""

    async def _read_chunks(self, request: ModelRequest) -> AsyncGenerator[Any, None]:
        chunks: AsyncIterator[Any] = self._start(request)
        limit = self._limits.first_token
        try:
            while True:
                failure, chunk = None, None
                try:
                    async with asyncio.timeout(limit):
                        chunk = await anext(chunks)
                except StopAsyncIteration:
                    return
                except TimeoutError:
                    failure = TransientModelError(
                        f"No response from {self.model} within {limit:g} s.", provider="langchain"
                    )
                except Exception as error:  # chat models raise whatever their own clients raise
                    failure = self._explain(error)
                if failure is not None:
                    raise failure
                yield chunk
                limit = self._limits.idle
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()

    def _start(self, request: ModelRequest) -> AsyncIterator[Any]:
        history = messages.convert_to_messages(repair_arguments(build_messages(request.messages)))
        runnable = self._bind(request)
        if request.stream:
            return runnable.astream(history, **request.options)
        return _once(runnable.ainvoke(history, **request.options))

    def _bind(self, request: ModelRequest) -> Any:
        if not request.tools or request.tool_choice == "none":
            return self._chat_model
        tools = [build_tool(tool) for tool in request.tools]
        choice = {"tool_choice": "any"} if request.tool_choice == "required" else {}
        return self._chat_model.bind_tools(tools, **choice)

    def _explain(self, error: Exception) -> ModelError:
        """Return the model error; not raised from the original, whose text and request may contain a key."""
        status = getattr(error, "status_code", None)
        passing = status is not None and is_transient(status)
        text = hide(f"{type(error).__name__}: {error}", _find_keys(self._chat_model))
        kind = TransientModelError if passing else ContextLengthError if is_overflow(text) else ModelError
        return kind(
            f"{self.model} failed: {text}",
            provider="langchain",
            status=status,
            request_id=getattr(error, "request_id", None),
        )


def name_model(chat_model: Any) -> str:
    """Return a chat model's name, `langchain:<name>`; its class's name if it has none."""
    named = (getattr(chat_model, attribute, None) for attribute in ("model_name", "model", "model_id"))
    names = [name for name in named if isinstance(name, str) and name]
    return f"langchain:{names[0] if names else type(chat_model).__name__}"


def name_publicly(chat_model: Any) -> str:
    """Return the public name of a chat model, `provider:name`, by the package that it comes from."""
    package = type(chat_model).__module__.partition(".")[0].removeprefix("langchain_")
    provider = _PACKAGES.get(package, package)
    return f"{provider}:{name_model(chat_model).removeprefix('langchain:')}"


async def _once(answer: Any) -> AsyncGenerator[Any, None]:
    yield await answer


def _find_keys(chat_model: object) -> list[str]:
    fields = vars(chat_model)
    return [value.get_secret_value() for value in fields.values() if hasattr(value, "get_secret_value")]


class ChunkReader:
    """Convert message chunks to deltas; usage is added up, since some models send it in parts."""

    def __init__(self, price: Pricing | None = None) -> None:
        self._price = price
        self._calls = CallPieces()
        self._usage = Usage()
        self._metadata: dict[str, Any] = {}
        self._request_id: str | None = None

    def read(self, chunk: Any) -> Iterator[Delta]:
        """Yield the deltas of one `AIMessageChunk`, or of a whole `AIMessage`."""
        self._request_id = self._request_id or chunk.id
        self._metadata.update(chunk.response_metadata)
        if chunk.usage_metadata:
            self._usage += read_usage(chunk.usage_metadata)
        if reasoning := chunk.additional_kwargs.get("reasoning_content"):
            yield ReasoningDelta(reasoning)
        if isinstance(chunk.content, str):
            if chunk.content:
                yield TextDelta(chunk.content)
        else:
            yield from _read_blocks(chunk.content)
        yield from (self._calls.read(piece) for piece in _list_calls(chunk))

    def finish(self) -> FinishDelta:
        """Return the delta that ends the answer."""
        known = (str(self._metadata[name]) for name in _REASON_NAMES if self._metadata.get(name))
        reason = _REASONS.get(next(known, "stop").lower(), "other")
        if reason == "stop" and self._calls.seen:
            reason = "tool-calls"
        model = str(self._metadata.get("model_name") or self._metadata.get("model") or "")
        usage = self._usage if self._price is None else self._price.apply(self._usage, model)
        return FinishDelta(reason, usage, model, self._request_id, dict(self._metadata))


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Read token counts in LangChain's shape."""
    inputs: Mapping[str, Any] = usage.get("input_token_details") or {}
    outputs: Mapping[str, Any] = usage.get("output_token_details") or {}
    return Usage(
        input_tokens=read_count(usage.get("input_tokens")),
        output_tokens=read_count(usage.get("output_tokens")),
        cached_tokens=read_count(inputs.get("cache_read")),
        reasoning_tokens=read_count(outputs.get("reasoning")),
        cache_write_tokens=read_count(inputs.get("cache_creation")),
    )


def repair_arguments(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages whose calls have valid arguments: LangChain rejects a history with invalid JSON."""
    return [
        {**message, "tool_calls": [_repair_call(call) for call in message["tool_calls"]]}
        if message.get("tool_calls")
        else message
        for message in messages
    ]


def _repair_call(call: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        json.loads(call["function"]["arguments"], strict=False)
    except ValueError:
        return {**call, "function": {**call["function"], "arguments": "{}"}}
    return call


def _read_blocks(blocks: Sequence[Any]) -> Iterator[Delta]:
    for block in blocks:
        if isinstance(block, str):
            yield TextDelta(block)
        elif text := block.get("text"):
            yield TextDelta(text)
        elif thought := block.get("thinking") or block.get("reasoning"):
            yield ReasoningDelta(thought)


def _list_calls(chunk: Any) -> Iterator[dict[str, Any]]:
    """Yield the pieces of calls in the shape of OpenAI-compatible servers."""
    pieces = getattr(chunk, "tool_call_chunks", None)
    for piece in chunk.tool_calls if pieces is None else pieces:
        function = {"name": piece["name"], "arguments": piece["args"]}
        yield {"index": piece.get("index"), "id": piece["id"], "function": function}
