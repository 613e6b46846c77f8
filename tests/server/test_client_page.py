"""The page that docs/client.md shows works against a real server, as it stands there."""

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.testing import Gate
from dovetail.tools.makers.browser import make_browser_tool
from dovetail.tools.tool import Tool
from patience import PATIENCE
from serving import Serving, serve

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "web" / "node_modules" / "ai" / "dist" / "index.js"
NODE = shutil.which("node")

pytestmark = pytest.mark.slow


def write_page(server: Serving, folder: Path) -> Path:
    """The page of the document, at home in a folder and pointed at the test's server."""
    text = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```js\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    code = code.replace('"http://127.0.0.1:8000"', f'"{server.address}"')
    page = folder / "page.mjs"
    page.write_text(code.replace('from "ai"', f'from "{PACKAGE.as_uri()}"'), encoding="utf-8")
    return page


async def run_page(server: Serving, folder: Path, scenario: str) -> tuple[list[dict[str, Any]], int]:
    """The messages of the page's chat, and how many times it sent one."""
    assert NODE is not None, "the tests need Node"
    assert PACKAGE.exists(), "the web client's packages are missing: run `npm ci` in web/"
    script = Path(__file__).with_name("page_client.mjs")
    page = write_page(server, folder)
    process = await asyncio.create_subprocess_exec(
        NODE,
        script,
        PACKAGE.as_uri(),
        page.as_uri(),
        scenario,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(PATIENCE):
        output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    seen = json.loads(output)
    return seen["messages"], seen["posts"]


def make_saw() -> Tool:
    async def saw(args: dict[str, Any], context: ToolContext) -> str:
        return "sawn"

    return Tool(name="saw", description="Saw.", parameters={}, execute=saw, kind=Kind.Execute)


async def test_the_page_acts_asks_and_is_there_again_after_a_reload(tmp_path: Path) -> None:
    replies = [
        {"tool_calls": [{"call_id": "c1", "name": "highlight", "arguments": {"text": "oak"}}]},
        {"tool_calls": [{"call_id": "c2", "name": "saw", "arguments": {}}]},
        "Done.",
    ]
    tools = [make_browser_tool("highlight", "Highlight.", HIGHLIGHT), make_saw()]
    async with serve(tmp_path, replies, tools) as server:
        shown, _ = await run_page(server, tmp_path, "act")
        again, _ = await run_page(server, tmp_path, "read")
    parts = {part["toolName"]: part for part in shown[-1]["parts"] if part["type"] == "dynamic-tool"}
    assert parts["highlight"]["output"] == {"marked": 2}
    assert parts["saw"]["output"] == "sawn"
    assert shown[-1]["parts"][-1]["text"] == "Done."
    assert [message["id"] for message in again] == [message["id"] for message in shown]


HIGHLIGHT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.mark.parametrize("order", [["highlight", "saw"], ["saw", "highlight"]])
@pytest.mark.parametrize("handler", ["act", "slow"])
@pytest.mark.parametrize("browser_tool", ["highlight", "unknown_to_the_page"])
async def test_a_turn_with_a_browser_tool_and_an_approval_ends(
    order: list[str], handler: str, browser_tool: str, tmp_path: Path
) -> None:
    names = {"highlight": browser_tool, "saw": "saw"}
    calls = [
        {
            "call_id": name,
            "name": names[name],
            "arguments": {"text": "oak"} if name == "highlight" else {},
        }
        for name in order
    ]
    tools = [make_browser_tool(browser_tool, "Highlight.", HIGHLIGHT), make_saw()]
    async with serve(tmp_path, [{"tool_calls": calls}, "Done."], tools) as server:
        shown, posts = await run_page(server, tmp_path, handler)
        told = [m["content"] for m in server.model.requests[-1].messages if m["role"] == "tool"]
    parts = {part["toolName"]: part for part in shown[-1]["parts"] if part["type"] == "dynamic-tool"}
    assert parts["saw"]["output"] == "sawn"
    if browser_tool == "highlight":
        assert parts[browser_tool]["output"] == {"marked": 2}
    else:
        assert "unknown_to_the_page" in "".join(told)
    assert posts == 3


async def test_the_page_stops_an_answer(tmp_path: Path) -> None:
    async with serve(tmp_path, [["On", Gate(), "and on"]]) as server:
        shown, _ = await run_page(server, tmp_path, "stop")
        view = await server.get("/api/v1/sessions/s")
    assert shown[-1]["metadata"]["reason"] == "cancelled"
    assert view["path"][-1]["parts"][-1]["text"] == "On"
