"""Names of models: `provider:name`, or a bare name that exactly one configured provider knows.

A provider knows a name by the patterns in its row, by the data of `genai-prices`, or, if it is a server of
the user's, by the list of models that the server returns.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from dovetail.data.text import did_you_mean, shorten
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.requesters.configured import (
    ConfiguredProvider,
    expand_alias,
    list_configured,
)
from dovetail.requesters.known_models import find_known, list_known
from dovetail.requesters.local.weights import CATALOGUE
from dovetail.requesters.providers import ALIASES, PROVIDERS, Provider
from dovetail.settings.model import ModelSettings

files = lazy("dovetail.requesters.local.files")

ListModels: TypeAlias = Callable[[Sequence[ConfiguredProvider]], Mapping[str, Sequence[str]]]
"""Ask servers for the names of their models, by provider; empty if one does not answer."""

_MOST_SUGGESTED = 4
_WORD = re.compile(r"[\w-]+")
_TAGGED = re.compile(r"[\w.-]+(?:/[\w.-]+)?:(?:latest|cloud|[ev]?\d[\w.-]*)")
"""A name with a tag, as Ollama writes them: `qwen3:8b`."""

_OPEN = re.compile(
    r"(?:codellama|deepseek-r|devstral|gemma|gpt-oss|granite|llama|mistral|mixtral|phi|qwen|qwq|smollm)[\d.]*"
)
"""Names that Ollama has without a tag: `qwen3`, `llama3.2`."""

_FILE = re.compile(r"(?:gguf:|file:)?(.+\.gguf|[.~]?/.+)", re.IGNORECASE)
"""The path of a model's file, with or without a word before it that other programs want."""

_OTHER_WORDS = {
    "vertex": "google",
    "vertexai": "google",
    "vertex-ai": "google",
    "google-genai": "google",
    "google-vertexai": "google",
    "google-vertex": "google",
    "aws": "bedrock",
    "bedrock-converse": "bedrock",
    "azure-openai": "azure",
    "grok": "xai",
    "x-ai": "xai",
}
"""Words of other libraries for our providers; they are suggested, not accepted."""

_EXAMPLES = {
    "anthropic": "claude-sonnet-5-5",
    "google": "gemini-2.5-flash",
    "openai": "gpt-5-mini",
    "azure": "<deployment>",
    "bedrock": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "openrouter": "openai/gpt-5-mini",
    "deepseek": "deepseek-chat",
    "mistral": "mistral-large-latest",
    "groq": "llama-3.3-70b-versatile",
    "xai": "grok-4",
    "ollama": "qwen3",
    "local": "good",
    "langchain": "mistralai:mistral-large-latest",
    "any-llm": "sambanova:DeepSeek-V3.1",
}


def complete_name(
    name: str, options: ModelSettings, makers: Sequence[str], list_models: ListModels
) -> tuple[str, str]:
    """Return the provider and the model of a name; `makers` are providers outside of the table.

    Raises:
        ConfigError: no configured provider knows the name, or several do.
    """
    name = name.strip()
    known = [*PROVIDERS, *ALIASES, *makers, *options.providers]
    word, _, model = name.partition(":")
    if (provider := _find_word(word, known)) is not None:
        return _check_model(name, expand_alias(provider, options), model.strip())
    if model and not _TAGGED.fullmatch(name) and (meant := did_you_mean(word, known, cutoff=0.7)):
        message = f"Unknown provider {shorten(word)} in the model name {shorten(name)}. {meant}"
        raise ConfigError(message, remedy="models")
    named = options.name.strip() if isinstance(options.name, str) else ""
    if options.base_url and named in ("", name):
        return "openai", name
    found: Sequence[str] = ()
    for spelling in dict.fromkeys([name, name.lower()]):
        found = found or _find_knowing(spelling, options, list_models)
        if len(found) == 1:
            return found[0], spelling
    if options.base_url and not found:
        owner, _ = complete_name(named, options, makers, list_models)
        if owner not in makers:
            return owner, name
    raise _explain(name, found, options, known)


def is_tagged(name: str) -> bool:
    """Return whether a name that begins with a provider may be one of Ollama's with a tag: `mistral:7b`."""
    return bool(_TAGGED.fullmatch(name) and _OPEN.fullmatch(name.partition(":")[0]))


def _find_word(word: str, known: Sequence[str]) -> str | None:
    """Return the provider or alias that a word is, in whatever case."""
    word = word.strip()
    return word if word in known else {each.lower(): each for each in known}.get(word.lower())


def _check_model(name: str, provider: str, model: str) -> tuple[str, str]:
    if not model:
        raise ConfigError(
            f"Invalid model name {shorten(name)}: it is a provider, and the name of its model is missing.",
            hint=f"Write {provider}:<name>, for example {provider}:{_EXAMPLES[provider]}"
            if provider in _EXAMPLES
            else f"Write {provider}:<name>.",
            remedy="models",
        )
    return provider, model


def _find_knowing(name: str, options: ModelSettings, list_models: ListModels) -> Sequence[str]:
    found = ["local"] if name in CATALOGUE else []
    ready = [each for each in list_configured(options) if each.is_set_up]
    servers = [each for each in ready if _is_asked(each.provider)]
    listed = list_models(servers)
    found += [each.name for each in ready if name in listed.get(each.name, ()) or _knows(each.provider, name)]
    return found or (["local"] if files.has_name(name, options.folders) else [])


def _is_asked(row: Provider) -> bool:
    """Return whether only the server itself knows its models."""
    return not row.models and not row.prices and row.name not in ("azure", "bedrock")


def _knows(row: Provider, name: str) -> bool:
    if row.models:
        return _fits(row, name)
    if row.name in ("azure", "bedrock"):
        return False  # their names are not the models': deployments, regions
    return bool(row.prices) and _find_priced(row, name)


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
            remedy="models",
        )
    if hint := _list_suggestions(_suggest(name, options, known), options):
        return ConfigError(
            f"Model name {shorten(name)} has no provider, and no configured provider knows it.",
            hint=hint,
            remedy="models",
        )
    word, _, model = name.partition(":")
    if model and _WORD.fullmatch(word):
        meant = _OTHER_WORDS.get(word.lower().replace("_", "-"))
        others = [(meant, model)] if meant else _suggest(model, options, known)
        setting = f"model.providers.{word}.base_url to the address of an OpenAI-compatible API."
        hint = _list_suggestions(others, options)
        return ConfigError(
            f"Unknown provider {word!r} in the model name {shorten(name)}.",
            hint=f"{hint}\nOr set {setting}" if hint else f"Set {setting} {_list_providers(known)}",
            remedy="models",
        )
    return ConfigError(
        f"Invalid model name {shorten(name)}: expected provider:name with a known provider.",
        hint=f"{_list_providers(known)} For another one, set model.providers.<provider>.base_url.",
        remedy="models",
    )


def _list_providers(known: Sequence[str]) -> str:
    return f"Providers: {', '.join(each for each in known if each not in ALIASES)}."


def _list_suggestions(names: Iterable[tuple[str, str]], options: ModelSettings) -> str:
    """Return names to type, a line for each, with the key that is missing; empty without any."""
    suggested = [*dict.fromkeys(names)][:_MOST_SUGGESTED]
    missing = {each.name: each.missing.rstrip(".") for each in list_configured(options)}
    lines = [
        f"  {provider}:{model}"
        + (f"   ({hint[0].lower()}{hint[1:]})" if (hint := missing.get(provider)) else "")
        for provider, model in suggested
    ]
    first = "Write one of:" if len(lines) > 1 else "Write:"
    return "\n".join([first, *lines]) if lines else ""


def _suggest(name: str, options: ModelSettings, known: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield providers that may have a model, and its name there."""
    if file := _FILE.fullmatch(name):
        yield "local", file[1]
        return
    first, _, rest = name.partition("/")
    if rest and (provider := _find_word(first, known)):
        yield expand_alias(provider, options), rest
    lowered = name.lower()
    for row in PROVIDERS.values():
        if row.models and _fits(row, lowered):
            yield row.name, lowered
    if _TAGGED.fullmatch(name) or _OPEN.fullmatch(lowered):
        yield "ollama", lowered
    for row in PROVIDERS.values():
        if row.prices and not row.models and row.name != "bedrock":
            yield from ((row.name, model.id) for model in list_known(row.name) if _is_same(model.id, lowered))


def _is_same(listed: str, name: str) -> bool:
    return listed.rpartition("/")[2].replace(".", "-") == name.rpartition("/")[2].replace(".", "-")
