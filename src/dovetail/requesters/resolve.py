"""Find the requester for a model's name.

Names are `provider:name`. `openai:` and `ollama:` are built in, `local:` are the embedded models, and
`model.providers` adds further OpenAI-compatible ones. `model.base_url` and `model.api_key` belong to the
provider of `model.name`.
"""

import os
from functools import lru_cache

from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.requesters.fallback import FallbackRequester
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.limits import RetryPolicy
from dovetail.requesters.local.weights import find_best
from dovetail.requesters.openai.requester import OpenAIRequester
from dovetail.requesters.prices import find_price, name_publicly
from dovetail.requesters.requester import Requester
from dovetail.settings import Settings
from dovetail.settings.model import EndpointSettings, ModelSettings
from dovetail.settings.section import keys_of

local = lazy("dovetail.requesters.local.requester")
langchain = lazy("dovetail.requesters.langchain")

OPENAI = "https://api.openai.com/v1"
ADDRESSES = {"openai": OPENAI, "ollama": "http://127.0.0.1:11434/v1"}


def resolve(model: object, settings: Settings) -> Requester:
    """Return the requester for a name, a LangChain chat model, a requester, or None: the configured model.

    If no model is named, the best downloaded embedded model is used; `model.fallbacks` are asked if the
    model fails.
    """
    options = settings.section(ModelSettings)
    named: object = options.name
    chosen = model or named
    if chosen is not None and not isinstance(chosen, str):
        return _adopt(chosen, options)
    first = chosen or _choose_embedded(options)
    names = [first, *(other for other in options.fallbacks if other != first)]
    owner = (named if named and isinstance(named, str) else first).partition(":")[0]
    requesters = [_make(name, options, owner) for name in names]
    return requesters[0] if len(requesters) == 1 else FallbackRequester(requesters)


def _adopt(model: object, options: ModelSettings) -> Requester:
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
    best = find_best()
    if best is None:
        raise ConfigError(
            "No model is configured, and no embedded model is downloaded.",
            hint="Set model.name (or DOVETAIL_MODEL) to a name such as 'openai:gpt-4.1' or 'ollama:qwen3', "
            "or download an embedded model: dovetail models pull good",
        )
    return f"local:{best}"


def _make(name: str, options: ModelSettings, owner: str) -> Requester:
    provider, _, rest = name.partition(":")
    known = [*ADDRESSES, "local", *options.providers]
    if not rest or provider not in known:
        raise ConfigError(
            f"Invalid model name {name!r}: expected provider:name with a known provider.",
            hint=f"Providers: {', '.join(known)}. For another one, set model.providers.<provider>.base_url.",
        )
    if provider == "local":
        return local.make_requester(rest, options)
    endpoint = _build_endpoint(name, options, is_owner=owner == provider)
    return OpenAIRequester(endpoint, refused=_remember_refused(endpoint.base_url, endpoint.model))


@lru_cache(maxsize=256)
def _remember_refused(address: str, model: str) -> set[str]:
    """The options that a model's server has rejected so far, shared by all requesters of that server."""
    return set()


def _build_endpoint(name: str, options: ModelSettings, *, is_owner: bool) -> Endpoint:
    provider, _, model = name.partition(":")
    chosen = _choose_options(provider, options, is_owner=is_owner)
    address = chosen.base_url or ADDRESSES.get(provider)
    if address is None:
        raise ConfigError(f"Missing model.providers.{provider}.base_url, needed for {name!r}.")
    return Endpoint(
        provider=provider,
        model=model,
        base_url=address,
        api_key=chosen.api_key or _find_key(address),
        structured=chosen.structured,
        thinking=chosen.thinking,
        stream=chosen.stream,
        headers=chosen.headers,
        options=chosen.options,
        body=chosen.body,
        proxy=chosen.proxy,
        limits=chosen.timeouts,
        retries=RetryPolicy(**chosen.retries.to_dict()),
        price=find_price(options, name),
        public_name=name_publicly(options.known_as, name),
    )


def _choose_options(provider: str, options: ModelSettings, *, is_owner: bool) -> EndpointSettings:
    """Return the options of one provider: its own over the general ones; address and key are not shared."""
    own = options.providers.get(provider, EndpointSettings())
    private = set[str]() if is_owner else {"base_url", "api_key"}
    return EndpointSettings(
        **{
            name: getattr(own if name in own.given or name in private else options, name)
            for name in keys_of(EndpointSettings)
        }
    )


def _find_key(address: str) -> str | None:
    """Return OpenAI's key from the environment, for OpenAI's own address only."""
    if address != OPENAI:
        return None
    key = os.environ.get("OPENAI_API_KEY")
    if not key:
        raise ConfigError(
            "Missing API key for OpenAI.",
            hint="Set model.api_key, DOVETAIL_API_KEY or OPENAI_API_KEY.",
        )
    return key
