"""Models through the package any-llm: `any-llm:<provider>:<model>`."""

import asyncio
import inspect
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from dovetail.data.secrets import hide_traces
from dovetail.data.shapes import is_mapping
from dovetail.errors import ModelError
from dovetail.events.call import ChatMessage, ModelRequest
from dovetail.events.delta import Delta, FinishDelta, ProviderPartDelta, ReasoningDelta
from dovetail.lazy import install_packages, lazy
from dovetail.requesters.configured import ConfiguredProvider, configure
from dovetail.requesters.content import build_messages
from dovetail.requesters.errors import REFUSED, REFUSED_HINT
from dovetail.requesters.foreign import ForeignRequester, explain_failure, split_model
from dovetail.requesters.http.reader import Complain, has_text
from dovetail.requesters.known_models import find_known
from dovetail.requesters.lengths import merge_options
from dovetail.requesters.openai.answer import ChatReader
from dovetail.requesters.openai.body import build_tool
from dovetail.requesters.parts import find_own_parts
from dovetail.requesters.prices import Pricing, find_price
from dovetail.requesters.thinking import name_level, settle_thinking
from dovetail.settings.model import ModelSettings

any_llm = lazy("any_llm", extra="any-llm")
_PROVIDERS = {"gemini": "google", "vertexai": "google", "azureopenai": "azure"}


class AnyLlmRequester(ForeignRequester):
    """A model that any-llm reaches; each event loop has a client of its own."""

    provider = "any-llm"
    calls_tools = True

    def __init__(self, name: str, configured: ConfiguredProvider, price: Pricing | None = None) -> None:
        super().__init__(limits=configured.options.timeouts, price=price)
        self._provider, self._model = split_model("any-llm", name, "mistral:mistral-large-latest")
        self._configured = configured
        self._source = f"any-llm:{self._provider}"
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = weakref.WeakKeyDictionary()

    @property
    def model(self) -> str:
        """The model's name, `any-llm:<provider>:<model>`."""
        return f"any-llm:{self._provider}:{self._model}"

    @property
    def secrets(self) -> Sequence[str]:
        """Texts to mask when its messages are shown."""
        key = self._configured.api_key
        return [key] if key else []

    @property
    def context_tokens(self) -> int | None:
        """The context window, if it is published."""
        known = find_known(name_publicly(f"{self._provider}:{self._model}"))
        return None if known is None else known.context_window

    async def close(self) -> None:
        """Close the connections of this event loop, as far as the provider's package can."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        inner = getattr(client, "client", None)
        close = getattr(inner, "close", None)
        closing = close() if callable(close) else None
        if inspect.isawaitable(closing):
            await closing

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the answer's deltas as they arrive."""
        reader = CompletionReader(self._fail, self._source)
        async with aclosing(self._watch(self._start(request))) as chunks:
            async for chunk in chunks:
                for delta in reader.read(chunk.model_dump(exclude_none=True)):
                    yield delta
        if part := reader.build_part():
            yield part
        finish = reader.finish()
        yield (
            finish
            if self.price is None
            else replace(finish, usage=self.price.apply(finish.usage, finish.model))
        )

    async def _start(self, request: ModelRequest) -> AsyncIterator[Any]:
        answer = await self._get_client().acompletion(**self._build_arguments(request))
        if not request.stream:
            yield answer
            return
        async for chunk in answer:
            yield chunk

    def make_client(self) -> Any:
        """Return a new client of any-llm.

        Raises:
            ConfigError: a package or a key is missing, or any-llm does not know the provider.
        """
        key, address = self._configured.api_key, self._configured.base_url or None
        try:
            return any_llm.AnyLLM.create(self._provider, api_key=key, api_base=address)
        except Exception as error:  # whatever the provider's own package raises
            text = hide_traces(" ".join(str(error).split()), self.secrets)
            hint = "Set the key in the provider's own variable or in model.providers.any-llm.api_key."
            if isinstance(error, ImportError):
                hint = f"Install it: {install_packages(f'any-llm-sdk[{self._provider}]')}"
        # Not inside the handler: the library's error may hold the key.
        raise explain_failure(self.provider, f"{self._provider}:{self._model}", text, hint)

    def _get_client(self) -> Any:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = self.make_client()
        return self._clients[loop]

    def _build_arguments(self, request: ModelRequest) -> dict[str, Any]:
        chosen = self._configured.options
        options = merge_options(chosen.options, request.options)
        request = settle_thinking(replace(request, options=options), chosen.thinking)
        arguments: dict[str, Any] = {
            "model": self._model,
            "messages": build_history(request.messages, self._source),
            "stream": request.stream,
            **request.options,
        }
        if request.stream:
            arguments.setdefault("stream_options", {"include_usage": True})
        if request.tools and request.tool_choice != "none":
            arguments["tools"] = [build_tool(tool) for tool in request.tools]
            if request.tool_choice == "required":
                arguments["tool_choice"] = "required"
        if request.thinking is not None:
            arguments["reasoning_effort"] = choose_effort(request.thinking)
        return arguments

    def _fail(self, failure: str, status: int | None) -> ModelError:
        hint = REFUSED_HINT if failure.startswith(REFUSED) else None
        return ModelError(f"{self.model} {failure}", provider=self.provider, status=status, hint=hint)


def make_requester(model: str, options: ModelSettings, owner: str) -> AnyLlmRequester:
    """Return the requester of `any-llm:<provider>:<model>`; `owner` is the provider of `model.name`."""
    price = find_price(options, f"any-llm:{model}", name_publicly(model))
    requester = AnyLlmRequester(model, configure("any-llm", options, owner), price)
    requester.make_client()  # what is missing is reported at once
    return requester


def name_publicly(model: str) -> str:
    """Return the public name of a model: any-llm has other words for some providers."""
    provider, _, name = model.partition(":")
    return f"{_PROVIDERS.get(provider, provider)}:{name}"


class CompletionReader(ChatReader):
    """Read any-llm's chunks, which are OpenAI's with reasoning and with data that the provider wants back."""

    def __init__(self, complain: Complain, source: str) -> None:
        super().__init__(complain, "")  # without parts of its own: `build_part` makes one at the end
        self._origin = source
        self._reasoning = ""
        self._extra: dict[str, Any] = {}
        self._call_extras: dict[str, Any] = {}
        self._last_call = ""

    def read(self, chunk: Mapping[str, Any]) -> list[Delta]:
        """Return the deltas of a chunk, or of a whole answer."""
        deltas: list[Delta] = []
        self._payload = chunk
        for choice in chunk.get("choices") or ():
            self._keep_extras(choice.get("delta") or choice.get("message") or {})
        self._read_chunk(chunk, deltas)
        self.has_text = self.has_text or has_text(deltas)
        for delta in deltas:
            if isinstance(delta, ReasoningDelta):
                self._reasoning += delta.text
        return deltas

    def build_part(self) -> ProviderPartDelta | None:
        """Return what the provider wants back with the message: signatures, and the text that they sign."""
        data: dict[str, Any] = {"extra_content": self._extra, "calls": self._call_extras}
        if not self._extra and not self._call_extras:
            return None
        return ProviderPartDelta(self._origin, {**data, "reasoning": self._reasoning})

    def finish(self, request_id: str | None = None) -> FinishDelta:
        """Return the delta that ends the answer."""
        chunk_id = (self._payload or {}).get("id")
        return super().finish(request_id or (chunk_id if isinstance(chunk_id, str) else None))

    def _keep_extras(self, part: Mapping[str, Any]) -> None:
        _merge(self._extra, part.get("extra_content"))
        for call in part.get("tool_calls") or ():
            self._last_call = call.get("id") or self._last_call
            if call.get("extra_content"):
                _merge(self._call_extras.setdefault(self._last_call, {}), call["extra_content"])


def _merge(known: dict[str, Any], more: Any) -> None:
    for provider, values in more.items() if is_mapping(more) else ():
        if is_mapping(values):
            known[provider] = {**known.get(provider, {}), **values}


def build_history(history: Sequence[ChatMessage], source: str) -> list[dict[str, Any]]:
    """Return the messages as any-llm takes them, with the data that goes back to their provider."""
    built = build_messages(history)
    for message, written in zip(history, built, strict=True):
        for part in find_own_parts(message, source):
            _add_part(written, part["data"])
    return built


def _add_part(message: dict[str, Any], data: Mapping[str, Any]) -> None:
    if data.get("extra_content"):
        message["extra_content"] = data["extra_content"]
        message["reasoning"] = {"content": data.get("reasoning") or ""}
    extras = data.get("calls")
    if is_mapping(extras) and message.get("tool_calls"):
        message["tool_calls"] = [
            {**call, "extra_content": extras[call["id"]]} if call["id"] in extras else call
            for call in message["tool_calls"]
        ]


def choose_effort(level: str | int) -> str:
    """Return any-llm's word for `model.thinking`."""
    return "none" if level == "off" else name_level(level)
