"""The public face is small, documented and light to import."""

import importlib
import json
import subprocess
import sys

import pytest

import dovetail

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


def test_every_public_name_loads_and_says_what_it_is_for() -> None:
    for name in dovetail.__all__:
        value = getattr(dovetail, name)
        assert name == "__version__" or (value.__doc__ or "").strip(), f"{name} has no docstring"


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
