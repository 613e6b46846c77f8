"""In a notebook: values are shown as HTML, and sync calls work although the kernel's loop is running."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from dovetail import Agent, Prompt, ToolResult, tool
from dovetail.events.run_result import RunResult
from dovetail.testing import ScriptedRequester
from patience import PATIENCE

EVIL = "<script>alert(1)</script> [link](javascript:alert(1)) ![x](http://evil.example/x.png) `<b>`"


@tool
def count(item: str, shelf: int = 1) -> int:
    """Count <b>pieces</b> of an item.

    Args:
        item: its name & number
    """
    return len(item) + shelf


def show(value: Any) -> str:
    return value._repr_html_()


def test_answer_is_shown_as_markdown() -> None:
    result = Agent(requester=ScriptedRequester(["# Woods\n\n- **oak**\n- ash"])).input("?").get_result()
    assert "<h1>Woods</h1>" in show(result)
    assert "<li><strong>oak</strong></li>" in show(result)


def test_structured_answer_is_shown_as_data() -> None:
    agent = Agent(requester=ScriptedRequester(['{"wood": "<oak>"}']))
    shown = show(agent.input("?").output({"wood": (str,)}).get_result())
    assert "&quot;wood&quot;: &quot;&lt;oak&gt;&quot;" in shown


@pytest.mark.parametrize(
    "value",
    [
        RunResult(text=EVIL),
        RunResult(data={"text": EVIL}),
        ToolResult(EVIL),
        ToolResult([{"type": "text", "text": EVIL}]),
        Prompt({"input": EVIL}),
        count.with_changes(description=EVIL),
        Agent(tools=[count.with_changes(description=EVIL)]).tools,
    ],
    ids=lambda value: type(value).__name__,
)
def test_texts_of_models_and_tools_cannot_run_or_load_anything(value: object) -> None:
    shown = show(value)
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown
    assert "<img" not in shown
    assert 'href="javascript' not in shown


def test_tool_is_shown_with_its_arguments() -> None:
    assert "<td>item</td><td>string</td><td>yes</td><td>its name &amp; number</td>" in show(count)


def test_response_is_shown_only_when_it_is_complete() -> None:
    response = Agent(requester=ScriptedRequester(["*Hi*"])).input("?").get_response()
    assert show(response) is None
    response.get_text()
    assert "<em>Hi</em>" in show(response)


def test_empty_prompt_is_shown_as_text() -> None:
    assert show(Prompt()) is None


CELLS = """
import asyncio
from dovetail import Agent
from dovetail.testing import ScriptedRequester
assert asyncio.get_running_loop().is_running()
agent = Agent("shop", requester=ScriptedRequester(["Oak.", "*Ash.*", "One two", ["Pi", "ne"], "Yew."]))
---
agent.input("A sync call?").start()
---
agent.run("A run?")
---
await agent.input("An awaited call?").async_start()
---
list(agent.input("A stream?").get_generator("delta"))
---
agent.input("Half a request")
---
[event.type async for event in agent.run_stream()][-1]
---
agent
"""


@pytest.fixture
def kernel() -> Iterator[BlockingKernelClient]:
    manager = KernelManager()
    manager.start_kernel(env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=PATIENCE)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run_cell(kernel: BlockingKernelClient, code: str) -> dict[str, str]:
    shown: dict[str, str] = {}

    def note(message: dict[str, Any]) -> None:
        content = message["content"]
        assert message["msg_type"] != "error", "\n".join(content["traceback"])
        if message["msg_type"] == "execute_result":
            shown.update(content["data"])

    kernel.execute_interactive(code.strip(), timeout=PATIENCE, output_hook=note)
    return shown


def test_cells_of_a_real_kernel_run_and_show_their_values(kernel: BlockingKernelClient) -> None:
    shown = [run_cell(kernel, cell) for cell in CELLS.split("---")]
    assert [each.get("text/plain") for each in shown] == [
        None,
        "'Oak.'",
        "RunResult(text='*Ash.*', turns=1, finish_reason='stop')",
        "'One two'",
        "['Pi', 'ne']",
        "Agent('shop', model='scripted:model')",
        "'run-end'",
        "Agent('shop', model='scripted:model')",
    ]
    assert "<em>Ash.</em>" in shown[2]["text/html"]
