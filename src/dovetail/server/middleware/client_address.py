"""Where a request comes from: this machine or another one, perhaps through a proxy.

Promise: a request through a proxy never counts as local as long as the proxy leaves any trace: a forwarding
header, the requested host name, or HTTP/1.0, which some proxies use by default.
"""

import ipaddress
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from dovetail.errors import ConfigError

_TRACES = ("forwarded", "via", "x-real-ip", "x-forwarded-")


def find_outside(scope: Scope) -> str | None:
    """Return why a request does not count as local, as the end of a sentence; None if it does."""
    client = scope.get("client")
    if client is None or not is_loopback(client[0]):
        return f"this request comes from {client[0] if client else 'an unknown address'}"
    headers = Headers(scope=scope)
    host = headers.get("host", "")
    if not is_loopback(_read_name(host)):
        return f"this request asks for {host!r}"
    trace = next((name for name in headers if name.startswith(_TRACES)), None)
    if trace is not None:
        return f"this request came through a proxy: it has the header {trace!r}"
    if scope.get("http_version") == "1.0":
        return "this request came through a proxy: it speaks HTTP/1.0"
    return None


def _read_name(host: str) -> str:
    """Return the name in a `Host` header without the port; empty if it has none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


@lru_cache(maxsize=1000)
def is_loopback(host: str) -> bool:
    """Whether a host name means this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_proxies(proxies: Sequence[str]) -> None:
    """Check the setting `server.trusted_proxies`.

    Raises:
        ConfigError: one is neither an IP address nor a network.
    """
    for proxy in proxies:
        try:
            ipaddress.ip_network(proxy)
        except ValueError as error:
            raise ConfigError(
                f"server.trusted_proxies: {proxy!r} is neither an IP address nor a network.",
                hint="Example: DOVETAIL_TRUSTED_PROXIES=10.0.0.0/24,fd00::/8",
            ) from error
