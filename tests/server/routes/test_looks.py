"""The files that extension folders bring for the page: which are served, at which addresses, and to whom."""

from pathlib import Path

import pytest

from extension_folders import Folders
from serving import serve

KEYS = {"server": {"api_keys": "ann:one"}}
MODULE = "export default function register() {}"


def write_look(root: Path, name: str = "dice", **files: str) -> Path:
    """Write a folder with a tool and files below `web/`; `__` in a name is a slash, `_` a dot."""
    folder = Folders(root / "extensions").write_tool(name, f"{name}_tool")
    for file, text in files.items():
        path = folder / "web" / file.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


async def test_modules_and_styles_of_a_folder_are_listed_and_served(tmp_path: Path) -> None:
    write_look(tmp_path, card_js=MODULE, card_css=".x {}", lib__part_js="export const one = 1")
    async with serve(tmp_path) as server:
        style, module = (await server.get("/api/v1/extensions"))["web"]["dice"]
        assert (style.rpartition("/")[2], module.rpartition("/")[2]) == ("card.css", "card.js")
        response = await server.client.get(module)
        assert response.text == MODULE
        assert response.headers["content-type"].startswith("text/javascript")
        assert "immutable" in response.headers["cache-control"]
        assert "script-src 'self'" in response.headers["content-security-policy"]
        part = await server.client.get(module.replace("card.js", "lib/part.js"))
        assert part.text == "export const one = 1"
        head = await server.client.head(module)
        assert (head.status_code, head.text) == (200, "")


async def test_a_folder_may_bring_a_module_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "extensions" / "looks" / "web").mkdir(parents=True)
    (tmp_path / "extensions" / "looks" / "web" / "card.js").write_text(MODULE)
    async with serve(tmp_path) as server:
        report = await server.get("/api/v1/extensions")
    assert "looks" in report["loaded_extensions"]
    assert len(report["web"]["looks"]) == 1


async def test_a_changed_module_has_another_address_after_a_reload(tmp_path: Path) -> None:
    folder = write_look(tmp_path, card_js="1")
    async with serve(tmp_path) as server:
        [before] = (await server.get("/api/v1/extensions"))["web"]["dice"]
        (folder / "web" / "card.js").write_text("2")
        report = (await server.client.post("/api/v1/extensions/reload")).json()
        [after] = report["web"]["dice"]
        assert before != after
        assert (await server.client.get(after)).text == "2"
        assert (await server.client.get(before)).status_code == 404
        Folders(tmp_path / "extensions").write("dice", "TOOL = (")
        report = (await server.client.post("/api/v1/extensions/reload")).json()
        assert report["kept"] == ["dice"]
        assert (await server.client.get(report["web"]["dice"][0])).text == "2"


async def test_a_link_to_the_current_version_survives_a_change(tmp_path: Path) -> None:
    folder = write_look(tmp_path, card_js=MODULE, oak_md="# Oak")
    async with serve(tmp_path) as server:
        link = "/ext/dice/current/oak.md"
        assert (await server.client.get(link)).status_code == 307
        document = await server.client.get(link, follow_redirects=True)
        assert (document.text, document.headers["content-type"]) == ("# Oak", "text/plain; charset=utf-8")
        (folder / "web" / "oak.md").write_text("# Old oak")
        await server.client.post("/api/v1/extensions/reload")
        assert (await server.client.get(link, follow_redirects=True)).text == "# Old oak"
        for missing in ("/ext/dice/current/ash.md", "/ext/mice/current/oak.md"):
            assert (await server.client.get(missing)).status_code == 404


async def test_a_process_that_has_not_reloaded_yet_serves_the_version_on_the_disk(tmp_path: Path) -> None:
    folder = write_look(tmp_path, card_js="1")
    async with serve(tmp_path) as server, serve(tmp_path / "other") as other:
        (folder / "web" / "card.js").write_text("2")
        write_look(tmp_path / "other", card_js="2")
        report = (await other.client.post("/api/v1/extensions/reload")).json()
        [address] = report["web"]["dice"]
        assert (await server.client.get(address)).text == "2"


@pytest.mark.parametrize(
    "path",
    [
        "../extension.py",
        "..%2fextension.py",
        "%2e%2e/extension.py",
        "lib/%2e%2e/%2e%2e/extension.py",
        "",
        ".hidden.js",
        "notes.txt",
        "out.js",
        "%00.js",
        f"{'a' * 5000}.js",
    ],
)
async def test_other_files_are_not_served(tmp_path: Path, path: str) -> None:
    folder = write_look(tmp_path, card_js=MODULE, notes_txt="a secret", lib__x_js="")
    (folder / "web" / ".hidden.js").write_text("a secret")
    (tmp_path / "out.js").write_text("a secret")
    (folder / "web" / "out.js").symlink_to(tmp_path / "out.js")
    async with serve(tmp_path) as server:
        [module] = (await server.get("/api/v1/extensions"))["web"]["dice"]
        base = module.removesuffix("card.js")
        response = await server.client.get(base + path)
        assert response.status_code == 404
        assert "secret" not in response.text


async def test_an_excluded_folder_is_neither_listed_nor_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_look(tmp_path, card_js=MODULE)
    async with serve(tmp_path) as server:
        [module] = (await server.get("/api/v1/extensions"))["web"]["dice"]
        monkeypatch.setenv("EXTENSION_EXCLUDED_EXTENSIONS", "dice")
        report = (await server.client.post("/api/v1/extensions/reload")).json()
        assert "dice" not in report["web"]
        assert (await server.client.get(module)).status_code == 404


async def test_only_users_who_have_signed_in_get_the_modules(tmp_path: Path) -> None:
    write_look(tmp_path, card_js=MODULE)
    async with serve(tmp_path, settings=KEYS) as server:
        headers = {"authorization": "Bearer one"}
        [module] = (await server.get("/api/v1/extensions", headers=headers))["web"]["dice"]
        assert (await server.client.get(module)).status_code == 401
        assert (await server.client.get(module, headers=headers)).status_code == 200
        assert (await server.client.get("/ext/dice/0/card.js")).status_code == 401


async def test_a_module_that_is_too_large_is_named_in_a_notice(tmp_path: Path) -> None:
    write_look(tmp_path, card_js=MODULE, big_js=" " * 2_000_001)
    async with serve(tmp_path) as server:
        report = await server.get("/api/v1/extensions")
    assert len(report["web"]["dice"]) == 1
    [notice] = [each["text"] for each in report["notices"] if each["extension"] == "dice"]
    assert "web/big.js is not served" in notice
