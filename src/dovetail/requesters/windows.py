"""The context window of a model: as its server or a refusal of it says, otherwise as published.

It is remembered per address and model. The server is asked only if nothing is published; each server has a
word of its own for its window, and some list the longest one that the model knows next to the one in use.
"""

import asyncio
from collections.abc import Awaitable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Protocol

from dovetail.data.shapes import is_list, is_mapping
from dovetail.requesters.known_models import find_known

PATIENCE = 0.5
"""Seconds that a request waits for the server to say its window."""

TRIES = 3
"""Times that a server is asked if it does not answer in time, or has not loaded the model yet."""

SMALLEST = 256
"""Numbers below are no windows; some servers write 0 or -1 for an unknown one."""

_WORDS = (
    "loaded_context_length",  # LM Studio: in use
    "n_ctx",  # llama.cpp: in use
    "max_model_len",  # vLLM
    "context_length",  # OpenRouter, Together, Fireworks, Ollama
    "context_window",  # Groq
    "max_context_length",  # Mistral, LM Studio
    "inputTokenLimit",  # Google
    "max_input_tokens",  # Anthropic
    "n_ctx_train",  # llama.cpp: the longest
)


class Fetch(Protocol):
    """Get JSON data from a route of the server, or post a body to it; None without any."""

    def __call__(self, path: str, body: Mapping[str, Any] | None = None) -> Awaitable[Any]:
        """Return the data."""
        ...


class Window:
    """The context window of one model at one address, as far as it is known."""

    def __init__(self, provider: str, model: str, public_name: str) -> None:
        self._provider = provider
        self._model = model
        self._public_name = public_name
        self._said: int | None = None
        self._tries = TRIES

    @property
    def known(self) -> int | None:
        """The number of tokens, if it is known without asking."""
        if self._said is not None:
            return self._said
        public = find_known(self._public_name)
        return None if public is None else public.context_window

    def learn(self, tokens: int | None) -> None:
        """Remember the number of tokens that the server has named, in a refusal for example."""
        if tokens is not None and tokens >= SMALLEST:
            self._said = tokens

    async def find(self, models_path: str, fetch: Fetch) -> int | None:
        """Return the number of tokens; a server is asked for it, if it is not known, and may not answer."""
        known = self.known
        if known is not None or self._tries == 0:
            return known
        self._tries -= 1
        try:
            async with asyncio.timeout(PATIENCE):
                said = await self._ask(models_path, fetch)
        except TimeoutError:
            return None
        self.learn(said)
        if said is None and not self._is("ollama"):
            self._tries = 0
        return self._said

    async def _ask(self, models_path: str, fetch: Fetch) -> int | None:
        if self._is("ollama"):
            return await _ask_ollama(self._model, fetch)
        if self._is("lmstudio"):
            return read_window(_find_entry(await fetch("../api/v0/models"), self._model))
        entry = _find_entry(await fetch(models_path), self._model)
        if entry.get("owned_by") == "library":  # how Ollama lists its models
            return await _ask_ollama(self._model, fetch)
        if self._is("llamacpp") or entry.get("owned_by") == "llamacpp":
            return _read_props(await fetch("../props")) or read_window(entry)
        described = read_window(entry)
        one = f"{models_path.partition('?')[0]}/{self._model}"
        return read_window(await fetch(one)) if described is None and models_path else described

    def _is(self, provider: str) -> bool:
        return self._provider == provider


@lru_cache(maxsize=512)
def recall_window(address: str, provider: str, model: str, public_name: str) -> Window:
    """Return what is known of the window of a model at this address; its requesters share it."""
    return Window(provider, model, public_name)


def read_window(entry: Any) -> int | None:
    """Return the context window that a description of a model names; None without any."""
    if not is_mapping(entry):
        return None
    for place in (entry.get("top_provider"), entry.get("meta"), entry):
        if not is_mapping(place):
            continue
        found = (_read_tokens(place.get(word)) for word in _WORDS)
        tokens = next((tokens for tokens in found if tokens is not None), None)
        if tokens is not None:
            return tokens
    return None


async def _ask_ollama(model: str, fetch: Fetch) -> int | None:
    """Return the window of a loaded model, or the one that its model file sets.

    A model that is neither loaded nor configured gets the server's own default, which is not listed.
    """
    loaded = read_window(_find_entry(await fetch("../api/ps"), model, is_listed=True))
    if loaded is not None:
        return loaded
    described = await fetch("../api/show", {"model": model})
    parameters = described.get("parameters") if is_mapping(described) else None
    for line in str(parameters or "").splitlines():
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdecimal():
            return _read_tokens(int(value))
    return None


def _find_entry(data: Any, model: str, *, is_listed: bool = False) -> Mapping[str, Any]:
    """Return the entry of a model in a server's list; the only entry of a server that runs one model."""
    entries = list(_list_entries(data))
    wanted = {model, f"models/{model}", f"{model}:latest"}
    for entry in entries:
        if wanted & {entry.get("id"), entry.get("name"), entry.get("model")}:
            return entry
    return entries[0] if len(entries) == 1 and not is_listed else {}


def _list_entries(data: Any) -> Iterator[Mapping[str, Any]]:
    listed = (data.get("data") or data.get("models")) if is_mapping(data) else data
    if is_list(listed):
        yield from (entry for entry in listed if is_mapping(entry))


def _read_props(data: Any) -> int | None:
    """Return the window in use from llama.cpp's properties."""
    used = data.get("default_generation_settings") if is_mapping(data) else None
    return _read_tokens(used.get("n_ctx")) if is_mapping(used) else None


def _read_tokens(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= SMALLEST
    return value if is_count else None
