"""Names of models: `provider:name`, or a bare name that exactly one configured provider knows.

A provider knows a name by the patterns in its row, by the data of `genai-prices`, or, if it is a server of
the user's, by the list of models that the server returns.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from dovetail.data.text import did_you_mean, shorten
from dovetail.errors import ConfigError
from dovetail.requesters.configured import (
    ConfiguredProvider,
    expand_alias,
    is_provider,
    list_configured,
)
from dovetail.requesters.known_models import find_known, list_known
from dovetail.requesters.local.weights import CATALOGUE
from dovetail.requesters.providers import ALIASES, PROVIDERS, Provider
from dovetail.settings.model import ModelSettings

ListModels: TypeAlias = Callable[[ConfiguredProvider], Sequence[str]]
"""Ask a server for the names of its models; empty if it does not answer."""

_MOST_SUGGESTED = 4
_TAGGED = re.compile(r"^[\w.-]+:(latest$|[\w.-]*\d)")
"""A name with a tag, as Ollama writes them: `qwen3:8b`."""


def complete_name(
    name: str, options: ModelSettings, makers: Sequence[str], list_models: ListModels
) -> tuple[str, str]:
    """Return the provider and the model of a name; `makers` are providers outside of the table.

    Raises:
        ConfigError: no configured provider knows the name, or several do.
    """
    provider, _, model = name.partition(":")
    if is_provider(provider, options) or provider in makers:
        if not model:
            raise ConfigError(f"Invalid model name {name!r}: the model's name after the colon is missing.")
        return expand_alias(provider, options), model
    known = [*PROVIDERS, *ALIASES, *makers, *options.providers]
    if model and (meant := did_you_mean(provider, known, cutoff=0.7)):
        raise ConfigError(f"Unknown provider {shorten(provider)} in the model name {shorten(name)}. {meant}")
    if options.base_url and name == options.name:
        return "openai", name
    found = [*_find_knowing(name, options, list_models)]
    if len(found) == 1:
        return found[0], name
    raise _explain(name, found, options, known)


def _find_knowing(name: str, options: ModelSettings, list_models: ListModels) -> Iterator[str]:
    if name in CATALOGUE:
        yield "local"
    for configured in list_configured(options):
        if configured.is_set_up and _knows(configured, name, list_models):
            yield configured.name


def _knows(configured: ConfiguredProvider, name: str, list_models: ListModels) -> bool:
    row = configured.provider
    if row.models:
        return _fits(row, name)
    if row.name in ("azure", "bedrock"):
        return False  # their names are not the models': deployments, regions
    return _find_priced(row, name) if row.prices else name in list_models(configured)


def _fits(row: Provider, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in row.models)


def _find_priced(row: Provider, name: str) -> bool:
    return find_known(f"{row.name}:{name}") is not None


def _explain(name: str, found: Sequence[str], options: ModelSettings, known: Sequence[str]) -> ConfigError:
    if found:
        choices = " or ".join(f"{provider}:{name}" for provider in found)
        return ConfigError(
            f"Ambiguous model name {shorten(name)}: several configured providers have it.",
            hint=f"Write {choices}.",
        )
    missing = {each.name: each.missing.rstrip(".") for each in list_configured(options)}
    suggested = [*dict.fromkeys(_suggest(name, options))][:_MOST_SUGGESTED]
    if not suggested:
        return ConfigError(
            f"Invalid model name {shorten(name)}: expected provider:name with a known provider.",
            hint=f"Providers: {', '.join(each for each in known if each not in ALIASES)}. "
            "For another one, set model.providers.<provider>.base_url.",
        )
    lines = [
        f"  {provider}:{model}"
        + (f"   ({hint[0].lower()}{hint[1:]})" if (hint := missing.get(provider)) else "")
        for provider, model in suggested
    ]
    return ConfigError(
        f"Model name {shorten(name)} has no provider, and no configured provider knows it.",
        hint="\n".join(["Write one of:", *lines]),
    )


def _suggest(name: str, options: ModelSettings) -> Iterator[tuple[str, str]]:
    """Yield providers that may have a model, and its name there."""
    first, _, rest = name.partition("/")
    if rest and is_provider(first, options):
        yield expand_alias(first, options), rest
    for row in PROVIDERS.values():
        if row.models and _fits(row, name):
            yield row.name, name
    for row in PROVIDERS.values():
        if row.prices and not row.models and row.name != "bedrock":
            yield from ((row.name, model.id) for model in list_known(row.name) if _is_same(model.id, name))
    if _TAGGED.search(name):
        yield "ollama", name


def _is_same(listed: str, name: str) -> bool:
    return listed.rpartition("/")[2].replace(".", "-") == name.rpartition("/")[2].replace(".", "-")
