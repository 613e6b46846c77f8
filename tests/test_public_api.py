"""The public face is small, documented and light to import."""

import asyncio
import doctest
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dovetail
from dovetail import app
from dovetail.agent import runtime
from dovetail.errors import TransientModelError
from dovetail.events.call import ToolCall
from dovetail.events.delta import FinishDelta, TextDelta, Usage
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


PACKAGES = ("", ".agent", ".agents", ".prompt", ".requesters", ".response", ".testing", ".tools")
NOT_SHOWN = {"__version__", "AgentInputs", "CallScope", "Instant", "RequestContext"}
"""Public names without an example: former names, and an alias of `Mapping`."""

REPLIES: dict[str, list[Any]] = {
    "Agent": ['{"wood": "oak"}', "Teak."],
    "AutoFuncExtension": ['{"value": true}'],
    "ChatSessionExtension": ["Welcome."],
    "FieldEvent": ['{"wood": "oak"}'],
    "KeyWaiterExtension": ['{"wood": "oak", "why": "hard"}'],
    "ToolError": [{"tool_calls": [{"name": "count", "arguments": {"item": "saw"}}]}, "We have no saws."],
    "tool": [{"tool_calls": [{"name": "count", "arguments": {"item": "chisel"}}]}, "Three."],
}
"""What the model says in the examples; `Oak.` where nothing else is said."""

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


def list_public() -> dict[str, Any]:
    modules = [importlib.import_module(f"dovetail{package}") for package in PACKAGES]
    names = {name: getattr(module, name) for module in modules for name in module.__all__}
    return {name: value for name, value in names.items() if name not in NOT_SHOWN}


@pytest.mark.parametrize("name", sorted(list_public()))
def test_every_public_name_has_an_example_that_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list_public()
    more = {"asyncio": asyncio, "FinishDelta": FinishDelta, "TextDelta": TextDelta, "ToolCall": ToolCall}
    more |= {"TransientModelError": TransientModelError, "Usage": Usage}
    [example] = doctest.DocTestFinder(recurse=False).find(names[name], name, globs={**names, **more})
    assert example.examples, f"The docstring of {name} has no example."
    monkeypatch.chdir(tmp_path)
    (tmp_path / "extensions" / "greet").mkdir(parents=True)
    (tmp_path / "extensions" / "greet" / "extension.py").write_text(GREET)
    monkeypatch.setenv("DOVETAIL_MODEL", "openai:scripted")
    monkeypatch.setenv("DOVETAIL_API_KEY", "none")
    monkeypatch.setattr(runtime, "_default", None)
    monkeypatch.setattr(app, "_default", None)
    with ScriptedServer(REPLIES.get(name, ["Oak."])) as server:
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
