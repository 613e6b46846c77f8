"""Sign requests to AWS: Signature Version 4, for a service whose paths are encoded twice (all but S3)."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote, urlsplit

ALGORITHM = "AWS4-HMAC-SHA256"
SIGNED = ("content-type", "host", "x-amz-date", "x-amz-security-token")
"""Headers that the signature covers; others may be changed on the way, as proxies do."""

STANDARD_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Credentials:
    """An access key; temporary ones come with a token."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str | None = field(default=None, repr=False)

    @property
    def secrets(self) -> list[str]:
        """Texts that must not be shown."""
        return [self.secret_key, *([self.token] if self.token else [])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to sign; the names of its headers are in lower case, and its URL is already encoded."""

    method: str = "POST"
    url: str
    headers: Mapping[str, str]
    body: bytes


def sign(
    request: Request, credentials: Credentials, *, region: str, service: str, now: datetime | None = None
) -> dict[str, str]:
    """Return the headers of a request with the date, the token and the signature."""
    moment = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    headers = {**request.headers, "host": _name_host(request.url), "x-amz-date": moment}
    if credentials.token:
        headers["x-amz-security-token"] = credentials.token
    names = [name for name in SIGNED if name in headers]
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    canonical = hashlib.sha256(_canonicalize(request, headers, names).encode()).hexdigest()
    key = _derive_key(credentials.secret_key, scope)
    signature = hmac.new(key, f"{ALGORITHM}\n{moment}\n{scope}\n{canonical}".encode(), "sha256").hexdigest()
    headers["authorization"] = (
        f"{ALGORITHM} Credential={credentials.access_key}/{scope}, "
        f"SignedHeaders={';'.join(names)}, Signature={signature}"
    )
    return headers


def _canonicalize(request: Request, headers: Mapping[str, str], names: list[str]) -> str:
    parts = urlsplit(request.url)
    return "\n".join(
        [
            request.method,
            quote(parts.path or "/", safe="/~"),
            _sort_query(parts.query),
            *(f"{name}:{' '.join(headers[name].split())}" for name in names),
            "",
            ";".join(names),
            hashlib.sha256(request.body).hexdigest(),
        ]
    )


def _sort_query(query: str) -> str:
    pairs = [(quote(name, safe=""), quote(value, safe="")) for name, value in parse_qsl(query, True)]
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def _derive_key(secret: str, scope: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), "sha256").digest()
    return key


def _name_host(url: str) -> str:
    """Return the host as HTTP clients send it: with a port unless it is the scheme's own."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    is_standard = parts.port is None or parts.port == STANDARD_PORTS.get(parts.scheme)
    return shown if is_standard else f"{shown}:{parts.port}"
