"""Whether a site lets the page show it in a frame, read from the headers of its response.

Only public addresses are asked, each redirect again, and no body is read.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import aiohttp
from fastapi import APIRouter, Query
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from dovetail.errors import ToolError
from dovetail.server.errors import InvalidRequest
from dovetail.server.schemas import Owner
from dovetail.tools.public_address import AddressRules, CheckedResolver

MOST_SECONDS = 5.0
MOST_REDIRECTS = 5
_HEADERS = {"User-Agent": "Mozilla/5.0 (compatible; dovetail)", "Accept": "text/html,*/*;q=0.5"}
_PORTS = {"http": 80, "https": 443}

Verdict: TypeAlias = Literal["allowed", "refused", "unknown"]
Headers: TypeAlias = CIMultiDict[str] | CIMultiDictProxy[str]
Address = Annotated[str, Query(max_length=4000)]

router = APIRouter(prefix="/api/v1/frames", tags=["page"])


@router.get("")
async def view_frame(url: Address, origin: Address, owner: Owner) -> dict[str, Any]:
    """Say whether a page of `origin` may show the page at `url` in a frame.

    `verdict` is `allowed`, `refused` or `unknown`: the server asks public addresses only.
    """
    try:
        place = URL(origin).origin()
    except ValueError as error:
        raise InvalidRequest(
            f"Invalid origin {origin!r}.", hint="An example is https://app.example, without a path."
        ) from error
    framing = await check_frame(url, place)
    return {"url": url, "verdict": framing.verdict, "reason": framing.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class Framing:
    """Whether a page may be shown in a frame; `reason` is the header that refuses it, or a sentence."""

    verdict: Verdict
    reason: str | None = None


async def check_frame(url: str, origin: URL, environment: Mapping[str, str] = os.environ) -> Framing:
    """Ask a site whether a page of `origin` may show it in a frame."""
    rules = AddressRules.read(environment)
    connector = aiohttp.TCPConnector(resolver=CheckedResolver(rules), limit=1, force_close=True)
    limits = aiohttp.ClientTimeout(total=MOST_SECONDS)
    try:
        async with aiohttp.ClientSession(
            connector=connector, timeout=limits, headers=_HEADERS, cookie_jar=aiohttp.DummyCookieJar()
        ) as session:
            return await _follow(session, rules, url, origin)
    except ToolError as error:
        return Framing(verdict="unknown", reason=error.message)
    except (aiohttp.ClientError, OSError, UnicodeError, ValueError):
        return Framing(verdict="unknown", reason="The server cannot reach the site.")


async def _follow(session: aiohttp.ClientSession, rules: AddressRules, url: str, origin: URL) -> Framing:
    for _ in range(MOST_REDIRECTS + 1):
        place = rules.check_url(url)
        async with session.get(place, allow_redirects=False) as response:
            target = response.headers.get("Location")
            if response.status not in (301, 302, 303, 307, 308) or target is None:
                return judge(response.headers, place, origin)
            url = str(place.join(URL(target)))
    return Framing(verdict="unknown", reason="The site redirects too often.")


def judge(headers: Headers, place: URL, origin: URL) -> Framing:
    """Decide as a browser does: `frame-ancestors` counts, otherwise `X-Frame-Options`."""
    policies = [
        sources
        for value in headers.getall("Content-Security-Policy", ())
        for policy in value.split(",")
        if (sources := _read_ancestors(policy)) is not None
    ]
    if policies:
        is_allowed = all(any(_matches(source, place, origin) for source in sources) for sources in policies)
        return (
            Framing(verdict="allowed") if is_allowed else Framing(verdict="refused", reason="frame-ancestors")
        )
    option = headers.get("X-Frame-Options", "").strip().lower()
    if option == "deny" or (option == "sameorigin" and place.origin() != origin):
        return Framing(verdict="refused", reason="x-frame-options")
    return Framing(verdict="allowed")


def _read_ancestors(policy: str) -> Sequence[str] | None:
    """Return the sources of `frame-ancestors` in a policy; None if it has no such directive."""
    for directive in policy.split(";"):
        name, *sources = directive.split() or [""]
        if name.lower() == "frame-ancestors":
            return sources
    return None


def _matches(source: str, place: URL, origin: URL) -> bool:
    """Whether a source of a policy covers an origin."""
    source = source.lower()
    if source in ("*", "'none'", "'self'"):
        return source == "*" or (source == "'self'" and place.origin() == origin)
    if source.endswith(":"):
        return source == f"{origin.scheme}:"
    scheme, separator, rest = source.rpartition("://")
    host, _, port = rest.partition("/")[0].partition(":")
    # Without a scheme the one of the site counts, and https is at least as good as http.
    if origin.scheme not in (scheme if separator else place.scheme, "https"):
        return False
    if port not in ("*", str(origin.port)) and not (port == "" and origin.port == _PORTS[origin.scheme]):
        return False
    own = origin.host or ""
    return own.endswith(host[1:]) and own != host[2:] if host.startswith("*.") else own == host
