"""The page: files of the built client, its index for every other address, and nothing from elsewhere."""

import gzip
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from dovetail.app import Dovetail
from dovetail.errors import ConfigError
from dovetail.server.app import create_app
from dovetail.server.routes.page import make_page_router
from serving import serve


@pytest.fixture
def client(tmp_path: Path) -> httpx.AsyncClient:
    """A client of a page whose folder is next to something secret."""
    web = tmp_path / "web"
    (web / "assets").mkdir(parents=True)
    (web / "index.html").write_text("the page")
    (web / "diagram.html").write_text("diagrams")
    (web / "assets" / "main-1a2b.js").write_text("code")
    (web / "link.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "secret.txt").write_text("secret")
    api = FastAPI()
    api.include_router(make_page_router(web))
    return httpx.AsyncClient(transport=httpx.ASGITransport(api), base_url="http://127.0.0.1")


async def test_a_file_is_served_and_a_hashed_one_is_kept(client: httpx.AsyncClient) -> None:
    code = await client.get("/assets/main-1a2b.js")
    assert (code.status_code, code.text) == (200, "code")
    assert "immutable" in code.headers["cache-control"]


async def test_diagrams_are_drawn_in_a_frame_that_can_reach_nothing(client: httpx.AsyncClient) -> None:
    frame = await client.get("/diagram.html")
    policy = frame.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'" in policy
    assert "connect-src" not in policy
    assert "img-src" not in policy
    assert "frame-ancestors 'self'" in policy
    assert frame.headers["x-frame-options"] == "SAMEORIGIN"
    assert "content-security-policy" not in (await client.get("/")).headers  # the middleware's strict one


async def test_the_head_of_the_page_can_be_asked_for(client: httpx.AsyncClient) -> None:
    page = await client.head("/")
    assert (page.status_code, page.text) == (200, "")


@pytest.mark.parametrize("path", ["/", "/chats/one", "/%00", f"/{'a' * 5000}"])
async def test_every_path_that_is_not_a_file_leads_to_the_page(client: httpx.AsyncClient, path: str) -> None:
    page = await client.get(path)
    assert (page.status_code, page.text) == (200, "the page")
    assert page.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path", ["/missing.js", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "/link.txt", "/api/v9/x"]
)
async def test_missing_files_and_files_elsewhere_are_not_found(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code == 404
    assert "secret" not in answer.text


async def test_a_compressed_file_is_sent_to_clients_that_accept_it(tmp_path: Path) -> None:
    code = "let joint = 1;\n" * 500
    (tmp_path / "ours" / "assets").mkdir(parents=True)
    (tmp_path / "ours" / "index.html").write_text("our page")
    file = tmp_path / "ours" / "assets" / "main-1a2b.js"
    file.write_text(code)
    file.with_name("main-1a2b.js.gz").write_bytes(gzip.compress(code.encode()))
    file.with_name("main-1a2b.js.br").write_bytes(b"smaller still")  # sent as it is, whatever it holds
    tags = set[str]()
    async with serve(tmp_path, settings={"server": {"web": "ours"}}) as server:
        for accepted, encoding in (("gzip, deflate, br", "br"), ("gzip, br;q=0", "gzip"), ("identity", None)):
            asked = {"accept-encoding": accepted}
            head = await server.client.head("/assets/main-1a2b.js", headers=asked)
            async with server.client.stream("GET", "/assets/main-1a2b.js", headers=asked) as response:
                sent = b"".join([piece async for piece in response.aiter_raw()])
            assert response.headers.get("content-encoding") == encoding
            assert response.headers["content-type"].startswith("text/javascript")
            assert response.headers["vary"] == "Accept-Encoding"
            assert "immutable" in response.headers["cache-control"]
            for name in ("content-encoding", "content-length", "content-type", "etag", "vary"):
                assert head.headers.get(name) == response.headers.get(name)
            assert len(sent) == int(response.headers["content-length"])
            tags.add(response.headers["etag"])
            page = await server.client.get("/chats/one", headers=asked)  # has no compressed file next to it
            assert (page.text, page.headers["vary"]) == ("our page", "Accept-Encoding")
    assert len(tags) == 3


async def test_a_part_of_a_compressed_file_names_its_encoding(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    packed = gzip.compress(b"code")
    (tmp_path / "web" / "assets" / "main-1a2b.js.gz").write_bytes(packed)
    asked = {"accept-encoding": "gzip", "range": "bytes=0-9"}
    async with client.stream("GET", "/assets/main-1a2b.js", headers=asked) as part:
        sent = b"".join([piece async for piece in part.aiter_raw()])
    assert (part.status_code, part.headers["content-encoding"], sent) == (206, "gzip", packed[:10])


async def test_a_compressed_file_elsewhere_is_not_sent(client: httpx.AsyncClient, tmp_path: Path) -> None:
    (tmp_path / "web" / "assets" / "main-1a2b.js.gz").symlink_to(tmp_path / "secret.txt")
    code = await client.get("/assets/main-1a2b.js", headers={"accept-encoding": "gzip"})
    assert (code.text, "content-encoding" in code.headers) == ("code", False)


async def test_the_settings_name_a_page_below_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "index.html").write_text("our page")
    async with serve(tmp_path, settings={"server": {"web": "ours"}}) as server:
        assert (await server.client.get("/")).text == "our page"


def test_a_page_without_an_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"has no index\.html"):
        create_app(Dovetail({"server": {"web": "."}}, workspace=tmp_path))
