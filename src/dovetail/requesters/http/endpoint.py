"""Where a model is reached over HTTP, and with which options."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from dovetail.data.secrets import encode_login, find_secrets, show_address
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.requesters.errors import Failures
from dovetail.requesters.limits import RetryPolicy, TimeLimits
from dovetail.requesters.prices import Pricing
from dovetail.settings.model import Api, Cache, Thinking

urllib_request = lazy("urllib.request")
Structured: TypeAlias = Literal["auto", "schema", "prompt"]
"""How a schema is enforced: by the server, by the prompt only, or by the server if it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One model at one address; `body` is merged into every request, over everything else.

    `key_header` is for protocols that leave the choice to the server; `authorization` carries a bearer token.
    With `stream` off, answers are requested whole, for servers that cannot stream. Without an `api`, a server
    with several is asked in the one that serves the model best. With `think_tags`, reasoning that came in
    `<think>` tags goes back to the server in them. `public_name` is the `provider:name` of the model for
    windows and prices, if it is not the one here.

    >>> Endpoint(provider="mine", model="m-1", base_url="http://127.0.0.1:9/v1", api_key="...").model
    'm-1'
    """

    provider: str = "openai"
    model: str
    base_url: str = "https://api.openai.com/v1"
    api_key: str | None = field(default=None, repr=False)
    key_header: str = "authorization"
    api: Api | None = None
    structured: Structured = "auto"
    thinking: Thinking | None = None
    think_tags: bool = False
    cache: Cache = "5m"
    stream: bool = True
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    body: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    proxy: str | None = field(default=None, repr=False)
    limits: TimeLimits = field(default_factory=TimeLimits)
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    price: Pricing | None = None
    public_name: str = ""

    def __post_init__(self) -> None:
        if urlsplit(self.base_url).scheme not in ("http", "https"):
            raise ConfigError(
                f"Invalid base_url {show_address(self.base_url)!r} of {self.provider}: must begin with http.",
                hint=self.build_failures().fill(
                    "Set {address} to a full URL, such as http://127.0.0.1:8000/v1."
                ),
            )

    def find_model(self, model: str) -> str:
        """Return the name by which the world knows a model: not that of an Azure deployment, for instance."""
        return (self.public_name.partition(":")[2] if model == self.model else "") or model

    def join(self, path: str) -> str:
        """Return the URL of a route; a query in the base URL is kept, next to that of the path.

        A user and password in the base URL are sent as a header.
        """
        parts = urlsplit(self.base_url)
        base, query = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl(), parts.query
        route, _, own = path.partition("?")
        queries = "&".join(part for part in (own, query) if part)
        return f"{base.rstrip('/')}/{route}{'?' if queries else ''}{queries}"

    def build_headers(self, own: Mapping[str, str]) -> dict[str, str]:
        """Return the headers of every request: those of the protocol, under the user's own."""
        given = {name.lower(): value for name, value in self.headers.items()}
        return {"content-type": "application/json", **self._build_login(), **own, **given}

    def _build_login(self) -> dict[str, str]:
        login = encode_login(self.base_url)
        return {"authorization": f"Basic {login}"} if login else {}

    def choose_proxy(self) -> str | None:
        """Return the configured proxy, or the environment's for this address, if any."""
        if self.proxy:
            return self.proxy
        parts = urlsplit(self.base_url)
        found = urllib_request.getproxies().get(parts.scheme)
        return None if found is None or urllib_request.proxy_bypass(parts.hostname or "") else found

    def build_failures(self) -> Failures:
        """Return the maker of this endpoint's errors."""
        addresses = [self.base_url, *([self.proxy] if self.proxy else [])]
        return Failures(
            provider=self.provider,
            model=self.model,
            address=show_address(self.base_url),
            api=self.api,
            has_key=bool(self.api_key),
            secrets=find_secrets(self.api_key, self.headers, addresses),
        )
