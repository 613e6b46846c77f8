"""Whether a site may be shown in a frame: its headers, as a browser reads them, and public addresses only."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from dovetail.server.routes.frames import check_frame, judge
from serving import serve

PAGE = URL("https://chat.example")
CSP = "Content-Security-Policy"


@pytest.mark.parametrize(
    ("headers", "verdict"),
    [
        ([], "allowed"),
        ([("X-Frame-Options", "DENY")], "refused"),
        ([("X-Frame-Options", "SameOrigin")], "refused"),
        ([("X-Frame-Options", "nonsense")], "allowed"),
        ([(CSP, "default-src 'self'")], "allowed"),
        ([(CSP, "frame-ancestors 'none'")], "refused"),
        ([(CSP, "frame-ancestors")], "refused"),
        ([(CSP, "frame-ancestors *"), ("X-Frame-Options", "DENY")], "allowed"),
        ([(CSP, "img-src *; Frame-Ancestors 'self' https://chat.example")], "allowed"),
        ([(CSP, "frame-ancestors https://*.example")], "allowed"),
        ([(CSP, "frame-ancestors *.chat.example")], "refused"),
        ([(CSP, "frame-ancestors https:")], "allowed"),
        ([(CSP, "frame-ancestors http://chat.example")], "allowed"),
        ([(CSP, "frame-ancestors https://chat.example:8443")], "refused"),
        (
            [(CSP, "frame-ancestors *"), (CSP, "frame-ancestors 'none'")],
            "refused",
        ),
    ],
)
def test_headers_are_read_as_a_browser_reads_them(headers: list[tuple[str, str]], verdict: str) -> None:
    assert judge(CIMultiDict(headers), URL("https://site.example/page"), PAGE).verdict == verdict


def test_a_site_that_allows_its_own_origin_can_be_shown_there() -> None:
    headers = CIMultiDict({"X-Frame-Options": "SAMEORIGIN"})
    assert judge(headers, URL("https://chat.example/help"), PAGE).verdict == "allowed"


@pytest.fixture
async def site() -> AsyncIterator[str]:
    async def refuse(request: web.Request) -> web.Response:
        return web.Response(text="no", headers={"X-Frame-Options": "DENY"})

    async def move(request: web.Request) -> web.Response:
        raise web.HTTPFound("/refuse")

    async def leave(request: web.Request) -> web.Response:
        raise web.HTTPFound("http://localhost:1/")

    app = web.Application()
    app.router.add_get("/refuse", refuse)
    app.router.add_get("/move", move)
    app.router.add_get("/leave", leave)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_redirects_are_followed_but_not_to_a_private_address(site: str) -> None:
    allowed = {"DOVETAIL_WEB_ALLOWED_HOSTS": "127.0.0.1"}
    assert (await check_frame(f"{site}/move", PAGE, allowed)).verdict == "refused"
    left = await check_frame(f"{site}/leave", PAGE, allowed)
    assert left.verdict == "unknown"
    assert "private address" in str(left.reason)


async def test_the_route_does_not_reach_private_addresses(tmp_path: Path, site: str) -> None:
    async with serve(tmp_path, []) as server:
        path = "/api/v1/frames"
        found = await server.client.get(path, params={"url": f"{site}/refuse", "origin": str(PAGE)})
        assert (found.status_code, found.json()["verdict"]) == (200, "unknown")
        wrong = await server.client.get(path, params={"url": site, "origin": "chat"})
        assert (wrong.status_code, "Invalid origin" in wrong.json()["error"]["message"]) == (422, True)
