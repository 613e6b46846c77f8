"""The public face is small, documented and light to import."""

import asyncio
import datetime
import doctest
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dovetail
from dovetail import app
from dovetail.agent import Agent, ChatSessionExtension, runtime
from dovetail.agent.fluent import TypedRequest
from dovetail.errors import TransientModelError
from dovetail.events.call import ToolCall
from dovetail.prompt import Prompt
from dovetail.response.response import Response
from dovetail.testing import ScriptedServer

HEAVY = {
    "aiohttp",
    "fastapi",
    "httpx",
    "jsonschema_rs",
    "langchain_core",
    "mcp",
    "pydantic",
    "rich",
    "sqlalchemy",
    "temporalio",
    "typer",
    "xllamacpp",
    "yaml",
}

FORMER_PATHS = {
    "dovetail.bus": ["MessageBus", "PendingRegistry", "Policy", "PolicyCall", "PolicyFile", "PolicyRule"],
    "dovetail.messages.call": ["ToolCall"],
    "dovetail.messages.delta": ["Delta", "FinishDelta", "TextDelta", "ToolCallDelta"],
    "dovetail.messages.event": ["AskKind", "Entry", "Event", "RunEnd", "ToolEnd", "ToolProgress"],
    "dovetail.messages.kind": ["Kind"],
    "dovetail.messages.model_event": ["TextMore", "ToolInputEnd"],
    "dovetail.messages.request": ["ChatMessage", "ModelRequest", "ToolSpec"],
    "dovetail.requesters.local": ["LocalRequester"],
    "dovetail.server.stream": ["EventStream"],
    "dovetail.subagents": ["AgentExecutor", "PromptConfig", "SubagentToolWrapper"],
    "dovetail.subagents.executor": ["AgentExecutor"],
    "dovetail.tools.audit": ["mask_secrets"],
    "dovetail.tools.browser": ["make_browser_tool", "open_url"],
    "dovetail.tools.kwargs": ["read_parameters"],
    "dovetail.tools.langchain": ["from_langchain", "to_langchain"],
}
"""Import paths of earlier versions, with the names that the documentation of those imported from them."""


PACKAGES = (
    *("", ".agent", ".agents", ".data", ".events", ".policy"),
    *(".prompt", ".requesters", ".response", ".testing", ".tools"),
)
FORMER_NAMES = {"CallScope", "Instant", "RequestContext"}
ALIASES = {"__version__", "AgentInputs", "Delta", "EndReason", "Event"}
"""Public names that cannot have a docstring."""

SHOWN = (Agent, TypedRequest, Response, ChatSessionExtension, Prompt)
"""What users call methods of: agents, the objects that those return, and prompts."""

FOR_EXTENSIONS = {
    *("ask_for", "begin_with", "claim_request", "get_native_tools", "get_prompt", "list_traits", "set_up"),
    *("check_write", "compute", "find_layer", "stream", "stream_alone"),
}
"""Methods without an example: those that only agent extensions and other parts of Dovetail call."""

COUNTING = {"tool_calls": [{"name": "count", "arguments": {"item": "saw"}}]}
THINKING = {"reasoning": "Doors are heavy.", "text": "Oak."}
WITH_A_CALL = (
    *("ModelResponseEvent", "ToolInputStart", "ToolInputDeltaEvent", "ToolInputEnd"),
    *("ToolStart", "ToolProgress", "ToolEnd"),
)
WITH_REASONING = ("ReasoningDelta", "ReasoningDeltaEvent", "ReasoningEnd", "ReasoningStart")
REPLIES: dict[str, list[Any]] = {
    **{name: [COUNTING, "Three saws."] for name in WITH_A_CALL},
    **{name: [THINKING] for name in WITH_REASONING},
    "Agent": ['{"value": ["oak", "teak"]}', "Teak."],
    "AutoFuncExtension": ['{"value": true}'],
    "ChatSessionExtension": ["Welcome."],
    "ChildEvent": [
        {"tool_calls": [{"name": "carpenter", "arguments": {"task": "A wood?"}}]},
        *("Oak.", "The carpenter says oak."),
    ],
    "FieldEvent": ['{"wood": "oak"}'],
    "KeyWaiterExtension": ['{"wood": "oak", "why": "hard"}'],
    "ToolError": [COUNTING, "We have no saws."],
    "tool": [{"tool_calls": [{"name": "count", "arguments": {"item": "chisel"}}]}, "Three."],
}
"""What the model says in the examples; `Oak.` where nothing else is said."""
REPLIES_BY_METHOD: dict[tuple[str, ...], list[Any]] = {
    (
        *("returns", "TypedRequest.start", "TypedRequest.async_start", "TypedRequest.get_response"),
        *("TypedRequest.get_data", "TypedRequest.async_get_data"),
        *("TypedRequest.async_get_key_result", "TypedRequest.async_wait_keys"),
    ): ['{"value": ["oak", "teak"]}'],
    (
        *("Agent.start", "async_run", "load_json_prompt", "when_key", "on_key", "Response.async_get_result"),
        *("get_text", "get_result", "get_data", "get_data_object", "async_get_data", "async_get_data_object"),
        *("get_key_result", "async_get_key_result", "async_wait_keys", "async_start_waiter"),
    ): ['{"wood": "oak"}'],
    ("wait_keys", "start_waiter"): ['{"woods": ["oak", "teak"]}'],
    ("auto_func",): REPLIES["AutoFuncExtension"],
    ("output",): ['{"wood": "oak", "uses": ["doors", "barrels"]}'],
    ("set_record_output_paths", "set_record_output_mode"): REPLIES["KeyWaiterExtension"],
    ("tool_func",): REPLIES["tool"],
}

GREET = """
def greet(name: str) -> str:
    return f"Hello, {name}."


TOOL = {
    "label": "Greet",
    "name": "greet",
    "description": "Greet a person.",
    "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
    "execute": greet,
}
"""
"""The extension folder that examples call."""

SHED = """
from mcp.server import MCPServer

shed = MCPServer("shed")


@shed.tool()
def sharpen(blade: str) -> str:
    return f"{blade} is sharp"


shed.run()
"""
"""The MCP server that examples connect to."""


def list_public() -> dict[str, Any]:
    modules = [importlib.import_module(f"dovetail{package}") for package in PACKAGES]
    names = {name: getattr(module, name) for module in modules for name in module.__all__}
    return {name: value for name, value in names.items() if name not in FORMER_NAMES | ALIASES}


def list_methods() -> dict[str, Any]:
    """Return the methods of the shown classes; one that several classes inherit is listed once."""
    found: dict[Any, str] = {}
    for kind in SHOWN:
        for name in dir(kind):
            method = getattr(kind, name)
            if inspect.isfunction(method) and not name.startswith("_") and name not in FOR_EXTENSIONS:
                found.setdefault(method, f"{kind.__name__}.{name}")
    return {name: method for method, name in found.items()}


@pytest.mark.parametrize("name", sorted(list_public()))
def test_every_public_name_has_an_example_that_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_example(name, list_public()[name], REPLIES.get(name, ["Oak."]), tmp_path, monkeypatch)


@pytest.mark.parametrize("name", sorted(list_methods()))
def test_every_method_that_users_call_has_an_example_that_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = {name, name.partition(".")[2]}
    replies = next((said for names, said in REPLIES_BY_METHOD.items() if both & {*names}), ["Oak."])
    run_example(name, list_methods()[name], replies, tmp_path, monkeypatch)


def run_example(
    name: str, value: Any, replies: list[Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the example of a docstring in a folder with an extension and an MCP server."""
    more = {"asyncio": asyncio, "datetime": datetime, "Path": Path}
    more |= {"ToolCall": ToolCall, "TransientModelError": TransientModelError}
    [example] = doctest.DocTestFinder(recurse=False).find(value, name, globs={**list_public(), **more})
    assert example.examples, f"The docstring of {name} has no example."
    monkeypatch.chdir(folder)
    (folder / "extensions" / "greet").mkdir(parents=True)
    (folder / "extensions" / "greet" / "extension.py").write_text(GREET)
    (folder / "shed.py").write_text(SHED)
    monkeypatch.setenv("DOVETAIL_MODEL", "openai:scripted")
    monkeypatch.setenv("DOVETAIL_API_KEY", "none")
    monkeypatch.setattr(runtime, "_default", None)
    monkeypatch.setattr(app, "_default", None)
    with ScriptedServer(replies) as server:
        monkeypatch.setenv("DOVETAIL_BASE_URL", server.url)
        report: list[str] = []
        options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
        doctest.DocTestRunner(optionflags=options).run(example, out=report.append)
    assert not report, "".join(report)


def test_exports_are_sorted_and_complete() -> None:
    assert dovetail.__all__ == sorted(dovetail.__all__)
    assert dir(dovetail) == dovetail.__all__


def test_unknown_name_lists_the_exports() -> None:
    with pytest.raises(AttributeError, match=r"'Agnt'; it exports: .*Tool"):
        _ = getattr(dovetail, "Agn" + "t")


def test_import_loads_no_heavy_package() -> None:
    script = "import sys, json, dovetail; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(subprocess.check_output([sys.executable, "-c", script])))
    assert not HEAVY & loaded


REQUEST = """
import sys, json
from dovetail import Agent
from dovetail.events.delta import FinishDelta, TextDelta

class Model:
    model, calls_tools, follows_schema = "test:model", True, False

    async def stream(self, request):
        yield TextDelta("Hello.")
        yield FinishDelta()

assert Agent(requester=Model()).input("Hi.").start() == "Hello."
print(json.dumps(sorted(sys.modules)))
"""


def test_request_without_tools_loads_nothing_of_tools_loops_and_runs() -> None:
    loaded = json.loads(subprocess.check_output([sys.executable, "-c", REQUEST]))
    parts = {name.split(".")[1] for name in loaded if name.startswith("dovetail.")}
    assert not parts & {"tools", "policy", "loop", "runs", "agents", "sessions"}
    assert not {"dovetail.events.run_events", "dovetail.events.run_context"} & set(loaded)


@pytest.mark.parametrize(("path", "names"), FORMER_PATHS.items())
def test_a_former_import_path_still_works(path: str, names: list[str]) -> None:
    module = importlib.import_module(path)
    assert set(names) <= set(module.__all__)
    for name in module.__all__:
        getattr(module, name)


def test_agent_in_the_package_of_agent_files_is_named_where_it_is() -> None:
    with pytest.raises(ImportError, match="Write `from dovetail import Agent`"):
        __import__("dovetail.agents", fromlist=["Agent"])  # as `from dovetail.agents import Agent` does
