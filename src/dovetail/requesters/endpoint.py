"""Where an OpenAI-compatible model is and how it is spoken to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.requesters.failures import Failures
from dovetail.requesters.limits import RetryPolicy, TimeLimits
from dovetail.requesters.prices import Price
from dovetail.requesters.secrets import find_secrets, show_address

request = lazy("urllib.request")

Structured: TypeAlias = Literal["auto", "schema", "prompt"]
"""How answers are held to a schema: by the server, by the prompt alone, or by the server if it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One model at one address; `body` goes into every request, over everything else.

    `stream` off asks for whole answers, for servers that cannot stream.
    """

    provider: str = "openai"
    model: str
    base_url: str = "https://api.openai.com/v1"
    api_key: str | None = field(default=None, repr=False)
    structured: Structured = "auto"
    stream: bool = True
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    body: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    proxy: str | None = field(default=None, repr=False)
    limits: TimeLimits = field(default_factory=TimeLimits)
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    price: Price | None = None

    def __post_init__(self) -> None:
        if urlsplit(self.base_url).scheme not in ("http", "https"):
            raise ConfigError(
                f"the address {show_address(self.base_url)!r} of {self.provider} does not begin with http",
                hint="Set model.base_url to the whole address, such as http://127.0.0.1:8000/v1.",
            )

    def join(self, path: str) -> str:
        """The address of a route; a query in the base address stays."""
        base, _, query = self.base_url.partition("?")
        return f"{base.rstrip('/')}/{path}{'?' if query else ''}{query}"

    def build_headers(self) -> dict[str, str]:
        """The headers of every request; the user's own come last."""
        headers = {"content-type": "application/json"}
        if self.api_key:
            headers["authorization"] = f"Bearer {self.api_key}"
        return {**headers, **{name.lower(): value for name, value in self.headers.items()}}

    def choose_proxy(self) -> str | None:
        """The proxy: the one that is set, else the environment's for this address."""
        if self.proxy:
            return self.proxy
        parts = urlsplit(self.base_url)
        found = request.getproxies().get(parts.scheme)
        return None if found is None or request.proxy_bypass(parts.hostname or "") else found

    def build_failures(self) -> Failures:
        """What makes this endpoint's errors."""
        addresses = [self.base_url, *([self.proxy] if self.proxy else [])]
        return Failures(
            provider=self.provider,
            model=self.model,
            address=show_address(self.base_url),
            has_key=bool(self.api_key),
            secrets=find_secrets(self.api_key, self.headers, addresses),
        )
