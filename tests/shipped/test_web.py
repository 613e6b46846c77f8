"""The `web` folder loads pages as text, under limits, and no private address."""

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from dovetail.extensions import ExtensionSnapshot
from extension_folders import ask, call_tool

NAME = "fetch_url"
PAGE = """<!doctype html><html><head><title>A page</title><script>bad()</script></head>
<body><h1>Hello</h1><p>See <a href="/next?a=1">the next
page</a>.</p><ul><li>one<li>two</ul><pre>x = 1
  y = 2</pre><div hidden><noscript>no</noscript></div></body></html>"""


ODD = """<!DOCTYPE html><title>A &amp; <b> B</title><!-- <p>no --><?php no ?><![CDATA[no]]></ no>
<script src="x.js"/><p class=a/ title='1 > 0' TITLE="b"
>1 < 2 &lt; 3 &#99999999999; &nosuch; <3</p ignored="a>b">
<STYLE>no</style
><a href=/x/>slash</a> <a
 href = '/q?a=1&amp;b=2'>two</a><textarea><p>kept</p></textarea><script
>"</scripty>"</SCRIPT >end <b x="never"""
HOSTILE = [
    '<a x="',
    "<a x=' ",
    "<a x",
    "<a ",
    "<a x=",
    "<a x = y ",
    "<!--",
    "<!",
    "<!--<!-",
    "<?",
    "</",
    "</a ",
    "</ ",
    "<",
    "< ",
    "<a>",
    "<a href=b>c",
    "<script>",
    "<script></script",
    "<title>",
    "<title></title>",
    "<title>x</title>",
    "<textarea></textare",
    "<![CDATA[",
    "&",
    "&#",
    "&#9",
    "&#x",
    "&lt",
    "<p>",
    "<li>",
    "\n \n",
    "  \n",
    "\0",
    "=",
    "/",
    "<a/",
    "<svg>",
    "<pre> ",
    '<a href="http://[">x</a>',
]


def write(body: bytes, **headers: str) -> web.Response:
    """An answer with just these bytes and headers."""
    return web.Response(body=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


ANSWERS = {
    "page": lambda: write(PAGE.encode(), Content_Type="text/html"),
    "json": lambda: write(b'{"a": [1, 2]}', Content_Type="application/json"),
    "latin": lambda: write("caf\u00e9".encode("latin-1"), Content_Type="text/plain; charset=latin-1"),
    "meta": lambda: write(
        '<meta charset="gb2312"><p>\u4f60\u597d'.encode("gb2312"), Content_Type="text/html"
    ),
    "odd": lambda: write(ODD.encode(), Content_Type="text/html"),
    "links": lambda: write(b'<a href="http://[">a</a> <a href="/%\0">b</a>', Content_Type="text/html"),
    "image": lambda: write(b"\x89PNG", Content_Type="image/png"),
    "bomb": lambda: write(
        gzip.compress(b"x" * 20_000_000), Content_Encoding="gzip", Content_Type="text/plain"
    ),
    "missing": lambda: web.Response(text="not here", status=404),
    "loop": lambda: web.Response(status=302, headers={"Location": "/loop"}),
    "plain": lambda: web.Response(text="plain"),
}


async def answer(request: web.Request) -> web.StreamResponse:
    """A small site: pages, redirects, one that never comes."""
    if "to" in request.query:
        return web.Response(status=302, headers={"Location": request.query["to"]})
    if request.path == "/slow":
        await asyncio.Event().wait()
    return ANSWERS[request.path.strip("/")]()


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """The address of a server on loopback that the environment allows."""
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    place = web.TCPSite(runner, "127.0.0.1", 0)
    await place.start()
    port = runner.addresses[0][1]
    monkeypatch.setenv("DOVETAIL_WEB_ALLOWED_HOSTS", f"127.0.0.1:{port}")
    yield f"http://127.0.0.1:{port}"
    await runner.cleanup()


async def test_a_page_becomes_readable_text(shipped: ExtensionSnapshot, site: str) -> None:
    text = await ask(shipped.tools, NAME, url=f"{site}/page")
    assert text == (
        f"url: {site}/page\nstatus: 200\ntitle: A page\n\n"
        f"# Hello\n\nSee [the next page]({site}/next?a=1).\n\n- one\n- two\n\nx = 1\n  y = 2"
    )


async def test_odd_markup_is_read_as_a_browser_reads_it(shipped: ExtensionSnapshot, site: str) -> None:
    text = await ask(shipped.tools, NAME, url=f"{site}/odd")
    assert text == (
        f"url: {site}/odd\nstatus: 200\ntitle: A & <b> B\n\n"
        "1 < 2 < 3 \ufffd &nosuch; <3\n\n"
        f"[slash]({site}/x/) [two]({site}/q?a=1&b=2)<p>kept</p>end"
    )


async def test_a_link_that_is_not_a_url_is_left_as_it_is(shipped: ExtensionSnapshot, site: str) -> None:
    assert "[a](http://[)" in await ask(shipped.tools, NAME, url=f"{site}/links")


@pytest.mark.parametrize("piece", HOSTILE)
async def test_no_markup_takes_long_to_read(
    shipped: ExtensionSnapshot, site: str, piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (piece * (300_000 // len(piece))).encode()
    monkeypatch.setitem(ANSWERS, "hostile", lambda: write(body, Content_Type="text/html"))
    assert (await ask(shipped.tools, NAME, url=f"{site}/hostile")).startswith(f"url: {site}/hostile")


async def test_links_of_a_page_with_a_long_address_do_not_multiply_it(
    shipped: ExtensionSnapshot, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "p" * 7000
    body = b"<a href=x>y</a> " * 5000
    monkeypatch.setitem(ANSWERS, f"{path}", lambda: write(body, Content_Type="text/html"))
    text = await ask(shipped.tools, NAME, url=f"{site}/{path}/", max_chars=100_000, start=1_000_000)
    assert "y y y y" in text
    assert int(text.partition(" of ")[2].partition(";")[0] or len(text)) < 1_100_000


async def test_other_texts_come_as_they_are(shipped: ExtensionSnapshot, site: str) -> None:
    assert '{"a": [1, 2]}' in await ask(shipped.tools, NAME, url=f"{site}/json")
    assert "caf\u00e9" in await ask(shipped.tools, NAME, url=f"{site}/latin")
    assert "\u4f60\u597d" in await ask(shipped.tools, NAME, url=f"{site}/meta")
    assert "status: 404\n\nnot here" in await ask(shipped.tools, NAME, url=f"{site}/missing")


async def test_a_long_page_is_read_in_pieces(shipped: ExtensionSnapshot, site: str) -> None:
    text = await ask(shipped.tools, NAME, url=f"{site}/json", start=1, max_chars=3)
    assert text.endswith('note: characters 1 to 4 of 13; continue with start=4\n\n"a"')


async def test_a_huge_page_is_cut_while_it_is_loaded(shipped: ExtensionSnapshot, site: str) -> None:
    assert "only the beginning of the page was loaded" in await ask(
        shipped.tools, NAME, url=f"{site}/bomb", max_chars=10
    )


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("ftp://example.org/x", "not http or https"),
        ("file:///etc/passwd", "not http or https"),
        ("example.org", "not http or https"),
        ("http://", "missing host"),
        ("http://[::1", "Invalid URL"),
        ("http://user:word@example.org/", "user name or password"),
        ("http://127.0.0.1/", "private address"),
        ("http://127.0.0.1:1/", "private address"),
        ("http://localhost/", "private address"),
        ("http://127.1/", "not a canonical IPv4 address"),
        ("http://2130706433/", "not a canonical IPv4 address"),
        ("http://0x7f000001/", "private address"),
        ("http://\uff11\uff12\uff17.0.0.1/", "private address"),
        ("http://[::1]/", "private address"),
        ("http://[::ffff:127.0.0.1]/", "private address"),
        ("http://[64:ff9b::7f00:1]/", "private address"),
        ("http://[fe80::1%25lo]/", "private address"),
        ("http://169.254.169.254/latest/meta-data", "private address"),
        ("http://10.0.0.1/", "private address"),
        ("http://192.168.1.1/", "private address"),
        ("http://0.0.0.0/", "private address"),
        ("http://224.0.0.1/", "private address"),
    ],
)
async def test_what_may_not_be_fetched(shipped: ExtensionSnapshot, url: str, complaint: str) -> None:
    outcome = await call_tool(shipped.tools, NAME, url=url)
    assert outcome.status == "error"
    assert complaint in outcome.result.llm_content


async def test_redirects_are_followed_and_checked_again(shipped: ExtensionSnapshot, site: str) -> None:
    assert f"url: {site}/plain" in await ask(shipped.tools, NAME, url=f"{site}/?to=/plain")
    for target in ("http://127.0.0.1:9/", "http://localhost/", "file:///etc/passwd", "//169.254.169.254/"):
        outcome = await call_tool(shipped.tools, NAME, url=f"{site}/?to={target}")
        assert outcome.status == "error", target
        assert "private address" in outcome.result.llm_content or "not http" in outcome.result.llm_content
    assert "Too many redirects (more than 5)" in await ask(shipped.tools, NAME, url=f"{site}/loop")


async def test_a_missing_file_or_one_that_is_not_text_is_explained(
    shipped: ExtensionSnapshot, site: str
) -> None:
    assert "is not text but image/png" in await ask(shipped.tools, NAME, url=f"{site}/image")
    assert "Cannot load" in await ask(shipped.tools, NAME, url="http://no-such-host.invalid/")
    long = await ask(shipped.tools, NAME, url=f"http://{'%E2%91%A0' * 300}/")
    assert "Cannot load" in long or "Invalid URL" in long


async def test_a_slow_page_ends_with_the_call(shipped: ExtensionSnapshot, site: str) -> None:
    [tool] = [tool for tool in shipped.tools if tool.name == NAME]
    outcome = await call_tool([tool.with_changes(time_limit=0.2)], NAME, url=f"{site}/slow")
    assert outcome.status == "timeout"
