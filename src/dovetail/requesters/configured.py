"""A provider as it is configured: its row in the table, with the settings and the environment over it.

A key is sent to the address it belongs to, and nowhere else: `model.api_key` to the server of `model.name`,
`model.providers.<name>.api_key` to that provider, and a key in the environment (`OPENAI_API_KEY`, …) to the
provider's own address or one set for that provider; not to `model.base_url`, which may be any server. The
same holds for headers that carry a key.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

from dovetail.data.secrets import names_secret
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.requesters.providers import ALIASES, PROVIDERS, Provider, find_provider
from dovetail.settings.model import Api, EndpointSettings, ModelSettings
from dovetail.settings.section import keys_of

aws = lazy("dovetail.requesters.bedrock.credentials")

_PRIVATE = {"base_url", "api_key", "api", "api_version"}
"""Settings in `model` that belong to the provider of `model.name`; the others hold for all providers."""

_NEWEST = ("v1", "preview", "latest")
"""Versions of Azure's API that have no date; they stand for its v1 API."""

_AUTHENTICATION = {"authorization", "api-key", "x-api-key", "x-goog-api-key"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredProvider:
    """A provider's address, key and options; `is_set_up` if it has a key, or an address from the user."""

    provider: Provider
    options: EndpointSettings
    base_url: str
    api_key: str | None = field(repr=False)
    is_owner: bool
    is_set_up: bool

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.provider.name

    @property
    def api(self) -> Api:
        """The API that it speaks."""
        return self.options.api or self.provider.api

    @property
    def missing(self) -> str:
        """The settings that are missing, as `Set …`; empty if it can be used."""
        if not self.base_url:
            variable = self.provider.address_variable
            return (
                f"Set {variable} or {self._key('base_url')}." if variable else f"Set {self._key('base_url')}."
            )
        if self.is_set_up or self.provider.is_local or self.provider.signs or not self.provider.keys:
            return ""
        variables = [*self.provider.keys, *(["DOVETAIL_API_KEY"] if self.is_owner else [])]
        return f"Set {', '.join(variables)} or {self._key('api_key')}."

    def require(self) -> None:
        """Check that the provider can be used.

        Raises:
            ConfigError: its address or its key is missing.
        """
        if hint := self.missing:
            what = "API key for" if self.base_url else "address of"
            raise ConfigError(f"Missing {what} {self.provider.title}.", hint=hint)

    def find_address(self, model: str) -> str:
        """Return the address for the requests to one model; only Azure's has the model in it."""
        if self.name != "azure" or "/openai/" in self.base_url:
            return self.base_url
        endpoint = f"{self.base_url.rstrip('/').removesuffix('/openai')}/openai"
        version = self.options.api_version or os.environ.get("OPENAI_API_VERSION")
        if not version or version in _NEWEST:
            return f"{endpoint}/v1"
        place = "" if self.api == "responses" else f"/deployments/{quote(model, safe='')}"
        return f"{endpoint}{place}?api-version={quote(version)}"

    def _key(self, name: str) -> str:
        is_general = self.is_owner and self.name in PROVIDERS
        return f"model.{name}" if is_general else f"model.providers.{self.name}.{name}"


def configure(name: str, options: ModelSettings, owner: str) -> ConfiguredProvider:
    """Return a provider of the table or of the settings; `owner` is the provider of `model.name`."""
    provider = PROVIDERS.get(name) or Provider(name=name, title=name)
    is_owner = owner == name
    own = options.providers.get(name, EndpointSettings())
    chosen = _choose_options(own, options, is_owner=is_owner)
    variable = os.environ.get(provider.address_variable) if provider.address_variable else None
    is_general = is_owner and "base_url" not in own.given and chosen.base_url is not None
    key = chosen.api_key or (None if is_general else _find_key(provider))
    address = chosen.base_url or variable
    has_header = any(header.lower() in _AUTHENTICATION for header in chosen.headers)
    is_own = not chosen.base_url or not provider.base_url
    needs_key = bool(provider.keys) and not provider.is_local and is_own
    return ConfiguredProvider(
        provider=provider,
        options=chosen,
        base_url=address or provider.base_url,
        api_key=key,
        is_owner=is_owner,
        is_set_up=bool(key)
        or has_header
        or (bool(address) and not needs_key)
        or (provider.signs and aws.has_credentials()),
    )


def list_configured(options: ModelSettings, owner: str = "") -> Iterator[ConfiguredProvider]:
    """Yield the providers of the table and of the settings, each once."""
    for name in dict.fromkeys([*PROVIDERS, *options.providers]):
        yield configure(name, options, owner)


def is_provider(name: str, options: ModelSettings) -> bool:
    """Return whether a word is a provider's name, an alias, or an entry of `model.providers`."""
    return name in options.providers or find_provider(name) is not None


def expand_alias(name: str, options: ModelSettings) -> str:
    """Return the provider's name that a word stands for; an entry of `model.providers` stands for itself."""
    return name if name in options.providers else ALIASES.get(name, name)


def _choose_options(own: EndpointSettings, options: ModelSettings, *, is_owner: bool) -> EndpointSettings:
    """Return the provider's own options over the general ones, without those that belong to another."""
    private = set[str]() if is_owner else _PRIVATE
    chosen = {
        name: getattr(own if name in own.given or name in private else options, name)
        for name in keys_of(EndpointSettings)
    }
    if not is_owner and "headers" not in own.given:
        chosen["headers"] = {name: value for name, value in options.headers.items() if not names_secret(name)}
    return EndpointSettings(**chosen)


def _find_key(provider: Provider) -> str | None:
    return next((key for name in provider.keys if (key := os.environ.get(name))), None)
