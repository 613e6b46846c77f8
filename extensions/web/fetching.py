"""Load one page and follow its redirects one by one, with limits of time, size and number."""

import asyncio
import codecs
import re
from dataclasses import dataclass

import aiohttp
from yarl import URL

from dovetail.errors import ToolError
from dovetail.tools.public_address import AddressRules, CheckedResolver

MOST_BYTES = 1_000_000
MOST_SECONDS = 20.0
MOST_REDIRECTS = 5
HEADERS = {
    "User-Agent": "dovetail-web",
    "Accept": "text/html,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5",
}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SLOW_CODECS = frozenset({"idna", "punycode"})  # for host names; they take quadratic time
_CHARSET = re.compile(rb"<meta[^>]+charset=[\"']?([\w-]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A loaded page."""

    url: str
    status: int
    media_type: str
    text: str
    is_cut: bool


async def fetch(url: str, rules: AddressRules) -> Page:
    """Load a page; raise `ToolError` for any failure."""
    connector = aiohttp.TCPConnector(resolver=CheckedResolver(rules), limit=1, force_close=True)
    limits = aiohttp.ClientTimeout(total=None)
    try:
        async with (
            asyncio.timeout(MOST_SECONDS),
            aiohttp.ClientSession(connector=connector, timeout=limits, headers=HEADERS) as session,
        ):
            return await _follow(session, url, rules)
    except TimeoutError as error:
        raise ToolError(f"Timed out loading {url} after {MOST_SECONDS:g} s.", type="timeout") from error
    except (aiohttp.ClientError, OSError, UnicodeError) as error:  # the last for a host name that is too long
        raise ToolError(f"Cannot load {url}: {error}", type="unreachable") from error


async def _follow(session: aiohttp.ClientSession, url: str, rules: AddressRules) -> Page:
    for _ in range(MOST_REDIRECTS + 1):
        place = rules.check_url(url)
        async with session.get(place, allow_redirects=False) as response:
            _check_peer(response, place, rules)
            target = response.headers.get("Location")
            if response.status not in _REDIRECTS or target is None:
                return await _read(response, str(place))
            url = _join(place, target)
    raise ToolError(
        f"Too many redirects (more than {MOST_REDIRECTS}), the last to {url}.", type="too_many_redirects"
    )


def _check_peer(response: aiohttp.ClientResponse, place: URL, rules: AddressRules) -> None:
    """Check the address that the connection really reached."""
    host = place.raw_host or ""
    transport = response.connection.transport if response.connection else None
    peer = transport.get_extra_info("peername") if transport else None
    if peer and not rules.allows(host, place.port):
        rules.check_address(peer[0], host)


def _join(place: URL, target: str) -> str:
    try:
        return str(place.join(URL(target)))
    except ValueError as error:
        raise ToolError(f"{place} redirects to an invalid URL: {target!r}.", type="invalid_url") from error


async def _read(response: aiohttp.ClientResponse, url: str) -> Page:
    data = bytearray()
    async for chunk in response.content.iter_chunked(65536):
        data += chunk
        if len(data) > MOST_BYTES:
            break
    return Page(
        url=url,
        status=response.status,
        media_type=response.content_type if "Content-Type" in response.headers else "text/plain",
        text=_decode(bytes(data[:MOST_BYTES]), response.charset),
        is_cut=len(data) > MOST_BYTES,
    )


def _decode(data: bytes, charset: str | None) -> str:
    if charset is None and (found := _CHARSET.search(data[:2048])):
        charset = found.group(1).decode("ascii")
    try:
        name = codecs.lookup(charset or "utf-8").name
        if name in _SLOW_CODECS:
            name = "utf-8"
        return data.decode(name, errors="replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", errors="replace")
