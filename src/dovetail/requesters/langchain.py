"""Any LangChain chat model as a requester: an object, or `langchain:<integration>:<model>` by name."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from dovetail.data.secrets import hide_traces
from dovetail.data.shapes import is_mapping, read_count
from dovetail.errors import ModelError
from dovetail.events.call import ChatMessage, ModelRequest
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from dovetail.lazy import install_packages, lazy
from dovetail.requesters.configured import configure
from dovetail.requesters.content import build_messages
from dovetail.requesters.errors import REFUSED, REFUSED_HINT
from dovetail.requesters.foreign import ForeignRequester, explain_failure, split_model
from dovetail.requesters.known_models import find_known
from dovetail.requesters.limits import TimeLimits
from dovetail.requesters.openai.body import build_tool
from dovetail.requesters.openai.format import CallPieces
from dovetail.requesters.parts import OwnPiece, TextPiece, arrange, find_own_parts
from dovetail.requesters.prices import Pricing, find_price
from dovetail.requesters.thinking import settle_thinking
from dovetail.requesters.warn import warn_once
from dovetail.settings.model import ModelSettings

chat_models = lazy("langchain_core.language_models.chat_models", extra="langchain")
messages = lazy("langchain_core.messages", extra="langchain")
makers = lazy("langchain.chat_models", extra="langchain")
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
_KEPT = ("thinking", "redacted_thinking", "reasoning_content")
"""Types of blocks that their provider wants back if it has signed them."""
_REASON_NAMES = ("finish_reason", "stop_reason", "done_reason", "stopReason")


class LangchainRequester(ForeignRequester):
    """A LangChain chat model as a requester; retries and keys are left to the chat model.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> Agent(model=LangchainRequester(FakeListChatModel(responses=["Oak."]))).input("A wood?").start()
    'Oak.'
    """

    provider = "langchain"

    def __init__(
        self,
        chat_model: Any,
        *,
        name: str = "",
        limits: TimeLimits | None = None,
        price: Pricing | None = None,
        thinking: str | int | None = None,
    ) -> None:
        super().__init__(limits=limits, price=price)
        self._thinking = thinking
        self._chat_model = chat_model
        self._name = name or name_model(chat_model)
        self._source = f"langchain:{type(chat_model).__name__}"

    @property
    def model(self) -> str:
        """The model's name: `langchain:<integration>:<name>`, or `langchain:<name>` of an object."""
        return self._name

    @property
    def context_tokens(self) -> int | None:
        """The context window, if it is published."""
        known = find_known(name_publicly(self._chat_model))
        return None if known is None else known.context_window

    @property
    def secrets(self) -> Sequence[str]:
        """Texts to mask when its messages are shown."""
        return _find_keys(self._chat_model)

    @property
    def calls_tools(self) -> bool:
        """Whether the chat model accepts tools."""
        return self._chat_model.__class__.bind_tools is not chat_models.BaseChatModel.bind_tools

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the answer's deltas as they arrive."""
        reader, is_empty = ChunkReader(self.price, self._source), True
        async with aclosing(self._watch(self._start(request))) as chunks:
            async for chunk in chunks:
                for delta in reader.read(chunk):
                    is_empty = is_empty and not isinstance(delta, TextDelta | ToolCallDelta)
                    yield delta
        for part in reader.take_parts():
            yield part
        finish = reader.finish()
        if is_empty and finish.reason == "content-filter":
            raise ModelError(f"{self.model} {REFUSED}.", provider=self.provider, hint=REFUSED_HINT)
        yield finish

    async def close(self) -> None:
        """Do nothing: the chat model belongs to its creator."""

    def _start(self, request: ModelRequest) -> AsyncIterator[Any]:
        request = settle_thinking(request, self._thinking)
        if request.thinking is not None:
            warn_once(f"{self.model}: 'thinking' is ignored; set the chat model's own options.")
        history = messages.convert_to_messages(build_history(request.messages, self._source))
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


def make_requester(model: str, options: ModelSettings, owner: str) -> LangchainRequester:
    """Return the requester of `langchain:<integration>:<model>`; `owner` is the provider of `model.name`."""
    integration, name = split_model("langchain", model, "anthropic:claude-sonnet-4-5")
    configured = configure("langchain", options, owner)
    chosen = configured.options
    given = {"base_url": configured.base_url or None, "api_key": configured.api_key}
    known = {key: value for key, value in given.items() if value}
    failure = None
    try:
        chat_model = makers.init_chat_model(name, model_provider=integration, **chosen.options, **known)
    except Exception as error:  # a missing package, an unknown integration, a missing key
        chat_model = None
        text = hide_traces(" ".join(str(error).split()), list(filter(None, [configured.api_key])))
        hint = (
            f"Install the integration: {install_packages(f'langchain-{integration}')}"
            if isinstance(error, ImportError)
            else "Set the API key as the integration expects it, or model.providers.langchain.api_key."
        )
        failure = explain_failure("langchain", model, text, hint)
    if failure is not None:
        raise failure  # not inside the handler: the integration's error may hold the key
    full_name = f"langchain:{model}"
    price = find_price(options, full_name, name_publicly(chat_model))
    return LangchainRequester(
        chat_model, name=full_name, limits=chosen.timeouts, price=price, thinking=chosen.thinking
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

    def __init__(self, price: Pricing | None = None, source: str = "langchain") -> None:
        self._price = price
        self._source = source
        self._signed: Any = None  # the sum of the last chunks with blocks that go back
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
                yield from self.take_parts()
                yield TextDelta(chunk.content)
        elif any(_is_kept(block) for block in chunk.content):
            self._signed = chunk if self._signed is None else self._signed + chunk
            yield from _read_blocks(chunk.content)
        else:
            yield from self.take_parts()
            yield from _read_blocks(chunk.content)
        yield from (self._calls.read(piece) for piece in _list_calls(chunk))

    def take_parts(self) -> Iterator[ProviderPartDelta]:
        """Yield the blocks that are complete and go back to the provider."""
        whole, self._signed = self._signed, None
        for block in whole.content if whole is not None else ():
            if _is_kept(block) and _is_signed(block):
                yield ProviderPartDelta(self._source, block)

    def finish(self) -> FinishDelta:
        """Return the delta that ends the answer."""
        known = (str(self._metadata[name]) for name in _REASON_NAMES if self._metadata.get(name))
        reason = _REASONS.get(next(known, "stop").lower(), "other")
        if reason == "stop" and self._calls.seen:
            reason = "tool-calls"
        usage = self._usage if self._price is None else self._price.apply(self._usage)
        model = str(self._metadata.get("model_name") or self._metadata.get("model") or "")
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


def build_history(history: Sequence[ChatMessage], source: str) -> list[dict[str, Any]]:
    """Return the messages as LangChain takes them, with the blocks that go back to their provider."""
    built = build_messages(history)
    return [
        {**written, "content": _write_blocks(message, source)} if find_own_parts(message, source) else written
        for message, written in zip(history, built, strict=True)
    ]


def _write_blocks(message: ChatMessage, source: str) -> list[Any]:
    """Return the text and the provider's blocks in their order; calls stay in a field of their own."""
    return [
        {"type": "text", "text": piece.text} if isinstance(piece, TextPiece) else dict(piece.data)
        for piece in arrange(message, source)
        if isinstance(piece, TextPiece) or (isinstance(piece, OwnPiece) and _is_kept(piece.data))
    ]


def _is_kept(block: Any) -> bool:
    return not isinstance(block, str) and block.get("type") in _KEPT


def _is_signed(block: Mapping[str, Any]) -> bool:
    inner = block.get("reasoning_content")
    return block["type"] == "redacted_thinking" or "signature" in (inner if is_mapping(inner) else block)


def _read_blocks(blocks: Sequence[Any]) -> Iterator[Delta]:
    for block in blocks:
        if isinstance(block, str):
            yield TextDelta(block)
        elif text := block.get("text"):
            yield TextDelta(text)
        elif thought := _read_thought(block):
            yield ReasoningDelta(thought)


def _read_thought(block: Mapping[str, Any]) -> str:
    inner = block.get("reasoning_content")
    thought = inner.get("text") if is_mapping(inner) else block.get("thinking") or block.get("reasoning")
    return thought if isinstance(thought, str) else ""


def _list_calls(chunk: Any) -> Iterator[dict[str, Any]]:
    """Yield the pieces of calls in the shape of OpenAI-compatible servers."""
    pieces = getattr(chunk, "tool_call_chunks", None)
    for piece in chunk.tool_calls if pieces is None else pieces:
        function = {"name": piece["name"], "arguments": piece["args"]}
        yield {"index": piece.get("index"), "id": piece["id"], "function": function}
