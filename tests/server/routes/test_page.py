"""The page: files of the built client, its index for every other address, and nothing from elsewhere."""

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


async def test_the_settings_name_a_page_below_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "index.html").write_text("our page")
    async with serve(tmp_path, settings={"server": {"web": "ours"}}) as server:
        assert (await server.client.get("/")).text == "our page"


def test_a_page_without_an_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"has no index\.html"):
        create_app(Dovetail({"server": {"web": "."}}, workspace=tmp_path))
