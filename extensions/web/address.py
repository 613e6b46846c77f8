"""Which addresses may be fetched: public ones, over http or https.

A server can reach what its users cannot: itself, its neighbours, the cloud's metadata service. So every
address is checked at the moment of connecting, after the name was resolved, and again for each redirect.
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
        """The rules that the environment sets: `DOVETAIL_WEB_ALLOWED_HOSTS=localhost,wiki.internal:8080`."""
        names = environment.get(ALLOWED_HOSTS, "").split(",")
        return cls(frozenset(name.strip().lower() for name in names if name.strip()))

    def check_url(self, url: str) -> URL:
        """The address as the connection will read it, if it may be tried."""
        try:
            parsed = URL(url.strip())
            host = parsed.raw_host  # as it goes on the wire: other writings of a number are numbers here
        except ValueError as error:
            raise ToolError(f"{url!r} is no web address: {error}", type="invalid_url") from error
        if parsed.scheme not in ("http", "https"):
            raise ToolError(
                f"{url!r} is not http or https; an address is whole, such as https://example.org/",
                type="invalid_url",
            )
        if not host:
            raise ToolError(f"{url!r} names no host", type="invalid_url")
        if parsed.user is not None or parsed.password is not None:
            raise ToolError("an address with a user name or password is not fetched", type="invalid_url")
        if _is_number(host) and not self.allows(host, parsed.port):
            self.check_address(host, host)
        return parsed

    def allows(self, host: str, port: int | None) -> bool:
        """Whether this host may be fetched wherever it lies."""
        return bool({host.lower(), f"{host.lower()}:{port}"} & self.allowed_hosts)

    def check_address(self, address: str, host: str) -> None:
        """Refuse an address that is not public."""
        if not is_public(address):
            raise ToolError(
                f"{host} is a private address and is not fetched; {ALLOWED_HOSTS} can allow it",
                type="private_address",
            )


class CheckedResolver(AbstractResolver):
    """Resolves names and gives only addresses that may be fetched, to the connection itself."""

    def __init__(self, rules: AddressRules) -> None:
        self._rules = rules
        self._resolver = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """All addresses of a host, if every one of them may be fetched."""
        results = await self._resolver.resolve(host, port, family)
        if not self._rules.allows(host, port):
            for result in results:
                self._rules.check_address(result["host"], host)
        return results

    async def close(self) -> None:
        """Nothing is kept open."""


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, also when it is wrapped in another."""
    value: Any = ipaddress.ip_address(address.partition("%")[0])
    return all(each.is_global and not each.is_multicast for each in (value, *_unwrap(value)))


def _unwrap(value: ipaddress.IPv4Address | ipaddress.IPv6Address) -> Sequence[Any]:
    """The IPv4 addresses that an IPv6 address stands for."""
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
