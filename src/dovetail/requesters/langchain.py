"""Any LangChain chat model as a requester."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from dovetail.errors import ModelError, PassingModelError
from dovetail.lazy import lazy
from dovetail.messages.delta import Delta
from dovetail.messages.request import ModelRequest
from dovetail.requesters.content import build_messages
from dovetail.requesters.langchain_chunks import ChunkReader, repair_arguments
from dovetail.requesters.limits import TimeLimits
from dovetail.requesters.openai_body import build_tool
from dovetail.requesters.prices import Price
from dovetail.requesters.refusal import may_pass
from dovetail.requesters.secrets import hide

messages = lazy("langchain_core.messages", extra="langchain")
chat_models = lazy("langchain_core.language_models.chat_models", extra="langchain")


def name_model(chat_model: Any) -> str:
    """A chat model's name, `langchain:<name>`; its class's name when it has none."""
    named = (getattr(chat_model, attribute, None) for attribute in ("model_name", "model", "model_id"))
    names = [name for name in named if isinstance(name, str) and name]
    return f"langchain:{names[0] if names else type(chat_model).__name__}"


class LangchainRequester:
    """Sends requests through a LangChain chat model; its own retries and keys are its own affair."""

    follows_schema = False
    """LangChain has no common way to hold a streamed answer to a schema."""

    def __init__(
        self, chat_model: Any, *, limits: TimeLimits | None = None, price: Price | None = None
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
    def calls_tools(self) -> bool:
        """Whether the chat model knows how to be told of tools."""
        return self._chat_model.__class__.bind_tools is not chat_models.BaseChatModel.bind_tools

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """The answer's deltas, as they arrive."""
        reader = ChunkReader(self._price)
        async with aclosing(self._read_chunks(request)) as chunks:
            async for chunk in chunks:
                for delta in reader.read(chunk):
                    yield delta
        yield reader.finish()

    async def close(self) -> None:
        """Nothing to give back: the chat model belongs to whoever made it."""

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
                    failure = PassingModelError(
                        f"{self.model} said nothing for {limit:g} seconds", provider="langchain"
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
        """The model error; not raised from the original, whose text and request may hold a key."""
        status = getattr(error, "status_code", None)
        passing = status is not None and may_pass(status)
        text = hide(f"{type(error).__name__}: {error}", _find_keys(self._chat_model))
        kind = PassingModelError if passing else ModelError
        return kind(
            f"{self.model} failed: {text}",
            provider="langchain",
            status=status,
            request_id=getattr(error, "request_id", None),
        )


async def _once(answer: Any) -> AsyncGenerator[Any, None]:
    yield await answer


def _find_keys(chat_model: object) -> list[str]:
    fields = vars(chat_model)
    return [value.get_secret_value() for value in fields.values() if hasattr(value, "get_secret_value")]
