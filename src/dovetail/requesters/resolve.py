"""Find the requester for a model's name.

Names are `provider:name`, with a provider of the table (`requesters/providers.py`), one of `model.providers`,
or one that makes its requesters on its own, such as `local:`. A protocol is loaded when a name needs it.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from dovetail.concurrency import run_sync
from dovetail.data.text import shorten
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.requesters.configured import ConfiguredProvider, configure
from dovetail.requesters.fallback import FallbackRequester
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.requester import HttpRequester
from dovetail.requesters.limits import RetryPolicy
from dovetail.requesters.local.download import find_failure, find_shortage
from dovetail.requesters.local.weights import DEFAULT, STAND_IN, find
from dovetail.requesters.names import complete_name, is_tagged
from dovetail.requesters.prices import find_price, name_publicly
from dovetail.requesters.providers import ALIASES, PROVIDERS
from dovetail.requesters.requester import Requester
from dovetail.settings import Settings
from dovetail.settings.model import Api, ModelSettings

local = lazy("dovetail.requesters.local.requester")
langchain = lazy("dovetail.requesters.langchain")

MAKERS: Mapping[str, Any] = {
    "local": local,
    "langchain": langchain,
    "any-llm": lazy("dovetail.requesters.any_llm"),
}
"""Providers outside of the table: modules with `make_requester(model, options, owner)`."""

PROTOCOLS: Mapping[Api, tuple[Any, str]] = {
    "chat": (lazy("dovetail.requesters.openai.requester"), "ChatCompletions"),
    "responses": (lazy("dovetail.requesters.openai.responses"), "Responses"),
    "anthropic": (lazy("dovetail.requesters.anthropic.protocol"), "Messages"),
    "google": (lazy("dovetail.requesters.google.protocol"), "GenerateContent"),
    "bedrock": (lazy("dovetail.requesters.bedrock.protocol"), "Converse"),
}
"""The protocol of each API: its module and its class."""

LISTED_FOR = 60.0
"""Seconds for which the list of a server's models is remembered."""

FAILED_FOR = 5.0
"""Seconds for which a server that does not list any models is not asked again."""

_listed: dict[str, tuple[float, Sequence[str]]] = {}
"""The lists of servers by address, with the time until which they hold."""


def resolve(model: object, settings: Settings) -> Requester:
    """Return the requester for a name, a LangChain chat model, a requester, or None: the configured model.

    If no model is named, it is the embedded model `good`, which the first request downloads; where that
    failed, `small` stands in if it is downloaded. `model.fallbacks` are asked if the model fails. A
    fallback that cannot be used, such as one without a key, is an error at once.
    """
    options = settings.section(ModelSettings)
    named: object = options.name
    chosen = model or named
    if chosen is not None and not isinstance(chosen, str):
        return _adopt(chosen, options)
    first = chosen or _choose_embedded(options)
    owner = _find_owner(named if named and isinstance(named, str) else first, options)
    name = _read_name(first, options)
    requesters = {name: _make(*name, options, owner) if chosen else _make_default(name[1], options)}
    for fallback in options.fallbacks:
        try:
            name = _read_name(fallback, options)
            requesters[name] = requesters.get(name) or _make(*name, options, owner)
        except ConfigError as error:
            message = f"Fallback {shorten(fallback)}: {error.message}"
            raise ConfigError(message, hint=error.hint, remedy=error.remedy) from error
    return FallbackRequester([*requesters.values()]) if len(requesters) > 1 else requesters[name]


async def learn_names(model: object, settings: Settings) -> None:
    """Ask the user's servers for their models if a name without a provider depends on them.

    Afterwards `resolve` need not wait for them, which would stop everything else on the event loop.
    """
    options = settings.section(ModelSettings)
    unknown: dict[str, ConfiguredProvider] = {}

    def note(servers: Sequence[ConfiguredProvider]) -> Mapping[str, Sequence[str]]:
        unknown.update({each.base_url: each for each in _find_unlisted(servers)})
        return {}

    named: object = options.name
    for name in dict.fromkeys([model or named, named, *options.fallbacks]):
        if name and isinstance(name, str):
            with suppress(ConfigError):
                complete_name(name, options, [*MAKERS], note)
    with suppress(ConfigError):  # `resolve` raises it
        await _ask_servers(unknown.values())


def find_active(settings: Settings) -> str:
    """Return the full name of the model that is used unless another one is named.

    Raises:
        ConfigError: no model is configured, or its name has no known provider.
    """
    options = settings.section(ModelSettings)
    named: Any = options.name
    if named and not isinstance(named, str):
        return _adopt(named, options).model
    return complete(named or _choose_embedded(options), settings)


def complete(name: str, settings: Settings) -> str:
    """Return the full name of a model, `provider:name`.

    Raises:
        ConfigError: no provider is known for the name.
    """
    return ":".join(_read_name(name, settings.section(ModelSettings)))


def names_provider(name: str, settings: Settings) -> bool:
    """Return whether a name begins with a provider, as the names of models do."""
    configured = settings.section(ModelSettings).providers
    return name.partition(":")[0] in {*PROVIDERS, *ALIASES, *MAKERS, *configured}


def _read_name(name: str, options: ModelSettings) -> tuple[str, str]:
    return complete_name(name, options, [*MAKERS], _list_models)


def _list_models(servers: Sequence[ConfiguredProvider]) -> Mapping[str, Sequence[str]]:
    """Return the models of servers by provider, asked at most once a minute; empty without an answer."""
    if unlisted := _find_unlisted(servers):
        run_sync(_ask_servers(unlisted))
    return {each.name: _listed[each.base_url][1] for each in servers}


def _find_unlisted(servers: Iterable[ConfiguredProvider]) -> list[ConfiguredProvider]:
    now = time.monotonic()
    return [each for each in servers if each.base_url not in _listed or _listed[each.base_url][0] < now]


def _find_owner(name: str, options: ModelSettings) -> str:
    """Return the provider of `model.name`; empty if unknown, which does not matter to other models."""
    try:
        return _read_name(name, options)[0]
    except ConfigError:
        return ""


async def _ask_servers(servers: Iterable[ConfiguredProvider]) -> None:
    """Ask servers for their models, all at once, and remember what they answer."""
    await asyncio.gather(*(_ask_models(each) for each in servers))


async def _ask_models(configured: ConfiguredProvider) -> None:
    requester = connect(configured, "", ModelSettings())
    try:
        names = await requester.list_models()
    finally:
        await requester.close()
    _listed[configured.base_url] = time.monotonic() + (LISTED_FOR if names else FAILED_FOR), names


def _adopt(model: object, options: ModelSettings) -> Requester:
    if isinstance(model, type):
        raise ConfigError(
            f"{model.__name__} is a class, not a model.",
            hint=f"Pass an instance, as in Agent(model={model.__name__}(...)), or a model's name.",
        )
    if isinstance(model, Requester):
        return model
    if hasattr(model, "astream") and hasattr(model, "bind_tools"):
        price = find_price(options, langchain.name_model(model), langchain.name_publicly(model))
        return langchain.LangchainRequester(model, limits=options.timeouts, price=price)
    raise ConfigError(
        f"{type(model).__name__} is not a model.",
        hint="Pass a name such as 'openai:gpt-4.1', a LangChain chat model, or an object with `stream`.",
    )


def _choose_embedded(options: ModelSettings) -> str:
    if options.base_url:
        raise ConfigError(
            "Missing model name: model.base_url is set, but model.name is not.",
            hint="Set model.name (or DOVETAIL_MODEL) to openai:<name>, with a model of that server.",
        )
    if find(DEFAULT):
        return f"local:{DEFAULT}"
    if not options.download:
        raise ConfigError(
            "No model is configured, and local:good is not downloaded.",
            hint="Set model.name (or DOVETAIL_MODEL) to a name such as 'openai:gpt-4.1' or 'ollama:qwen3', "
            f"or download the embedded model: dovetail models pull {DEFAULT}",
            remedy="models",
        )
    if find(STAND_IN) and find_failure(DEFAULT) and not find_shortage(DEFAULT):
        return f"local:{STAND_IN}"
    return f"local:{DEFAULT}"


def _make_default(model: str, options: ModelSettings) -> Requester:
    """Return the requester of the embedded model that answers if none is named."""
    return local.make_requester(model, options, can_stand_in=True)


def _make(provider: str, model: str, options: ModelSettings, owner: str) -> Requester:
    if provider in MAKERS:
        return MAKERS[provider].make_requester(model, options, owner)
    configured = configure(provider, options, owner)
    try:
        configured.require()
    except ConfigError as error:
        if is_tagged(f"{provider}:{model}"):
            hint = f"{error.hint}\nFor the model of Ollama, write ollama:{provider}:{model}."
            raise ConfigError(error.message, hint=hint, remedy=error.remedy) from None
        raise
    return connect(configured, model, options)


def connect(configured: ConfiguredProvider, model: str, options: ModelSettings) -> HttpRequester:
    """Return the requester of one model of a configured provider."""
    endpoint = _build_endpoint(configured, model, options)
    module, protocol = PROTOCOLS[configured.api]
    refused = _remember_refused(endpoint.base_url, endpoint.model)
    return HttpRequester(getattr(module, protocol)(endpoint), refused=refused)


@lru_cache(maxsize=256)
def _remember_refused(address: str, model: str) -> set[str]:
    """The options that a model's server has rejected so far, shared by all requesters of that server."""
    return set()


def _build_endpoint(configured: ConfiguredProvider, model: str, options: ModelSettings) -> Endpoint:
    chosen = configured.options
    name = f"{configured.name}:{model}"
    return Endpoint(
        provider=configured.name,
        model=model,
        base_url=configured.find_address(model),
        api_key=configured.api_key,
        key_header=configured.key_header,
        api=chosen.api,
        structured=configured.provider.structured if chosen.structured == "auto" else chosen.structured,
        thinking=chosen.thinking,
        think_tags=chosen.think_tags,
        cache=chosen.cache,
        stream=chosen.stream,
        headers=chosen.headers,
        options=chosen.options,
        body=chosen.body,
        proxy=chosen.proxy,
        limits=chosen.timeouts,
        retries=RetryPolicy(**chosen.retries.to_dict()),
        price=find_price(options, name, cache=chosen.cache),
        public_name=name_publicly(options.known_as, name),
    )
