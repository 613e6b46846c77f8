"""A provider as it is configured: its row in the table, with the settings and the environment over it.

A key is sent to the address it belongs to, and nowhere else: `model.api_key` to the server of `model.name`,
`model.providers.<name>.api_key` to that provider, and a key in the environment (`OPENAI_API_KEY`, …) to the
provider's own address or one set for that provider (`model.providers.<name>.base_url`, or a variable such as
`OPENAI_BASE_URL`); not to `model.base_url`, which may be any server. The same holds for headers that carry a
key.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

from dovetail.data.secrets import names_secret
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.requesters.providers import ALIASES, PROVIDERS, Provider
from dovetail.settings.model import Api, EndpointSettings, ModelSettings
from dovetail.settings.section import keys_of

aws = lazy("dovetail.requesters.bedrock.credentials")

_PRIVATE = {"base_url", "api_key", "api", "api_version"}
"""Settings in `model` that belong to the provider of `model.name`; the others hold for all providers."""

_NEWEST = ("v1", "preview", "latest")
"""Versions of Azure's API that have no date; they stand for its v1 API."""

_AUTHENTICATION = {"authorization", "api-key", "x-api-key", "x-goog-api-key"}
_ROUTE = re.compile(r"/(?:chat/completions|responses|messages)/*$")
"""The route of a request, at the end of an address that was copied from an example or a portal."""

_VERSION = re.compile(r"/v\d\w*/?$")
_HOST = re.compile(r"(\[.*\]|[^:]*)(?::(\d*))?")

_ANYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]"}
"""Hosts that a server listens on, and where a client finds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredProvider:
    """A provider's address, key and options; `is_set_up` if it has a key, or an address from the user."""

    provider: Provider
    options: EndpointSettings
    base_url: str
    api_key: str | None = field(repr=False)
    key_header: str
    is_owner: bool
    is_set_up: bool
    variable: str = ""
    """The variable of the environment that has the key, if that is in use."""
    withheld: str = ""
    """The variable of a key that is not sent because the address is `model.base_url`."""

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
        if self.withheld and self._name_keys():
            own = f"model.providers.{self.name}"
            return (
                f"Set {own}.base_url instead of model.base_url: {self.withheld} is not sent to "
                f"model.base_url, which may be any server. Or set {own}.api_key."
            )
        wanted = [names for names in (self._name_address(), self._name_keys()) if names]
        return f"Set {', and '.join(wanted)}." if wanted else ""

    def require(self) -> None:
        """Check that the provider can be used.

        Raises:
            ConfigError: its address or its key is missing.
        """
        if hint := self.missing:
            address = "address and API key of" if self._name_keys() else "address of"
            what = "API key for" if self.base_url else address
            remedy = "keys" if self._name_keys() else None
            raise ConfigError(f"Missing {what} {self.provider.title}.", hint=hint, remedy=remedy)

    def find_address(self, model: str) -> str:
        """Return the address of one model's API, without a route; Azure's may have the model in it."""
        parts = urlsplit(self.base_url)
        path = _ROUTE.sub("", parts.path)
        if self.name == "azure":
            return self._complete_azure(parts._replace(path=path.rstrip("/")), model)
        return self.base_url if path == parts.path else parts._replace(path=path).geturl()

    def _complete_azure(self, parts: SplitResult, model: str) -> str:
        """Return the address of Azure's v1 API, or with a dated version that of a deployment."""
        if parts.path.endswith("/openai/v1"):
            return parts.geturl()
        path, query = parts.path, dict(parse_qsl(parts.query))
        named = query.pop("api-version", "")
        version = self.options.api_version or named or os.environ.get("OPENAI_API_VERSION", "")
        if "/openai/" not in path:
            path = f"{path.removesuffix('/openai')}/openai"
            if not version or version in _NEWEST:
                return parts._replace(path=f"{path}/v1", query=urlencode(query)).geturl()
            path += "" if self.api == "responses" else f"/deployments/{quote(model, safe='')}"
        query |= {"api-version": version} if version else {}
        return parts._replace(path=path, query=urlencode(query)).geturl()

    def _name_address(self) -> str:
        """Return the places of the address if it is missing."""
        if self.base_url:
            return ""
        return " or ".join(
            filter(None, [self.provider.address_variable, f"model.providers.{self.name}.base_url"])
        )

    def _name_keys(self) -> str:
        """Return the places of the key if it is missing."""
        if self.is_set_up or self.provider.is_local or self.provider.signs or not self.provider.keys:
            return ""
        variables = [*self.provider.keys, *(["DOVETAIL_API_KEY"] if self.is_owner else [])]
        return f"{', '.join(variables)} or model.providers.{self.name}.api_key"


def configure(name: str, options: ModelSettings, owner: str) -> ConfiguredProvider:
    """Return a provider of the table or of the settings; `owner` is the provider of `model.name`."""
    provider = PROVIDERS.get(name) or Provider(name=name, title=name)
    is_owner = owner == name
    own = options.providers.get(name, EndpointSettings())
    chosen = _choose_options(own, options, is_owner=is_owner)
    is_general = is_owner and "base_url" not in own.given and chosen.base_url is not None
    found = None if chosen.api_key else _find_key(provider)
    variable = None if is_general else found
    key = os.environ[variable] if variable else chosen.api_key
    address = _complete_path(chosen.base_url, provider) if chosen.base_url else _read_address(provider)
    has_header = any(header.lower() in _AUTHENTICATION for header in chosen.headers)
    is_own = not address or not provider.base_url
    needs_key = bool(provider.keys) and not provider.is_local and is_own
    return ConfiguredProvider(
        provider=provider,
        options=chosen,
        base_url=address or provider.base_url,
        api_key=key,
        key_header="authorization" if variable in provider.tokens else provider.key_header,
        is_owner=is_owner,
        variable=variable or "",
        withheld=(found or "") if is_general else "",
        is_set_up=bool(key)
        or has_header
        or (bool(address) and not needs_key)
        or (provider.signs and aws.has_credentials()),
    )


def list_configured(options: ModelSettings, owner: str = "") -> Iterator[ConfiguredProvider]:
    """Yield the providers of the table and of the settings, each once."""
    for name in dict.fromkeys([*PROVIDERS, *options.providers]):
        yield configure(name, options, owner)


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
    """Return the variable that holds the provider's key, if any."""
    return next((name for name in provider.keys if os.environ.get(name)), None)


def _read_address(provider: Provider) -> str:
    """Return the address in the provider's variable, with the version of its API; empty without one."""
    given = os.environ.get(provider.address_variable, "").strip() if provider.address_variable else ""
    if not given or not provider.version:
        return given
    try:
        is_host = provider.name == "ollama"
        parts = _complete_host(given, urlsplit(provider.base_url).port) if is_host else urlsplit(given)
    except ValueError as error:
        raise ConfigError(f"Invalid address in {provider.address_variable}: {error}.") from error
    if _VERSION.search(parts.path):
        return parts.geturl()
    return parts._replace(path=f"{parts.path.rstrip('/')}/{provider.version}").geturl()


def _complete_path(address: str, provider: Provider) -> str:
    """Return an address that is nothing but a host with the version of the provider's API."""
    parts = urlsplit(address)
    is_bare = provider.version and parts.netloc and parts.path in ("", "/")
    return parts._replace(path=f"/{provider.version}").geturl() if is_bare else address


def _complete_host(given: str, port: int | None) -> SplitResult:
    """Return Ollama's address: a host, with or without scheme and port, may be one that it listens on."""
    has_scheme = "://" in given
    parts = urlsplit(given if has_scheme else f"http://{given}")
    login, at, place = parts.netloc.rpartition("@")
    found = _HOST.fullmatch(place)
    host, number = found.groups() if found else (f"[{place}]", None)
    host, number = _ANYWHERE.get(host.strip("[]"), host), number or (None if has_scheme else port)
    return parts._replace(netloc=f"{login}{at}{host}{f':{number}' if number else ''}")
