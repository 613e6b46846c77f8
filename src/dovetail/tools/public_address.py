"""Rules for addresses that a server may fetch for a user: public ones, over http or https.

A server can reach addresses that its users cannot: itself, its neighbours, the cloud's metadata service. So
every address is checked when connecting, after the name was resolved, and again for each redirect.
"""

import ipaddress
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from yarl import URL

from dovetail.errors import ToolError

ALLOWED_HOSTS = "DOVETAIL_WEB_ALLOWED_HOSTS"
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class AddressRules:
    """The hosts that may be fetched although they are private."""

    allowed_hosts: frozenset[str] = frozenset()

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "AddressRules":
        """Read the rules from the environment: `DOVETAIL_WEB_ALLOWED_HOSTS=localhost,wiki.internal:8080`."""
        names = environment.get(ALLOWED_HOSTS, "").split(",")
        return cls(frozenset(name.strip().lower() for name in names if name.strip()))

    def check_url(self, url: str) -> URL:
        """Parse a URL as the connection will; raise `ToolError` if it may not be fetched."""
        try:
            parsed = URL(url.strip())
            host = (
                parsed.raw_host
            )  # as sent on the wire: other spellings of an IP address are normalized here
        except ValueError as error:
            raise ToolError(f"Invalid URL {url!r}: {error}.", type="invalid_url") from error
        if parsed.scheme not in ("http", "https"):
            raise ToolError(
                f"Invalid URL {url!r}: not http or https. Use a full URL such as https://example.org/.",
                type="invalid_url",
            )
        if not host:
            raise ToolError(f"Invalid URL {url!r}: missing host.", type="invalid_url")
        if parsed.user is not None or parsed.password is not None:
            raise ToolError("URLs with a user name or password are not allowed.", type="invalid_url")
        if _is_number(host) and not self.allows(host, parsed.port):
            self.check_address(host, host)
        return parsed

    def allows(self, host: str, port: int | None) -> bool:
        """Return whether the host may be fetched even at a private address."""
        return bool({host.lower(), f"{host.lower()}:{port}"} & self.allowed_hosts)

    def check_address(self, address: str, host: str) -> None:
        """Refuse an address that is not public."""
        if not is_public(address):
            raise ToolError(
                f"{host} is a private address and is not allowed. {ALLOWED_HOSTS} can allow it.",
                type="private_address",
            )


class CheckedResolver(AbstractResolver):
    """Resolve names for the connection itself, only to addresses that may be fetched."""

    def __init__(self, rules: AddressRules) -> None:
        self._rules = rules
        self._resolver = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return all addresses of a host, if every one of them may be fetched."""
        results = await self._resolver.resolve(host, port, family)
        if not self._rules.allows(host, port):
            for result in results:
                self._rules.check_address(result["host"], host)
        return results

    async def close(self) -> None:
        """Do nothing: no connection is open."""


def is_public(address: str) -> bool:
    """Return whether an IP address is public, also if it is embedded in another one."""
    value: Any = ipaddress.ip_address(address.partition("%")[0])
    return all(each.is_global and not each.is_multicast for each in (value, *_unwrap(value)))


def _unwrap(value: ipaddress.IPv4Address | ipaddress.IPv6Address) -> Sequence[Any]:
    """Return the IPv4 addresses that are embedded in an IPv6 address."""
    if isinstance(value, ipaddress.IPv4Address):
        return []
    wrapped: list[Any] = [value.ipv4_mapped, value.sixtofour, *(value.teredo or ())]
    if value in _NAT64:
        wrapped.append(ipaddress.IPv4Address(int(value) & 0xFFFFFFFF))
    return [each for each in wrapped if each is not None]


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True
