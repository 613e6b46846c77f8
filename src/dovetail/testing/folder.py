"""Call a tool of an extension folder in a test, as a model would."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dovetail.concurrency import run_sync
from dovetail.data.text import expected_one_of
from dovetail.errors import ConfigError, ToolError
from dovetail.events.call import ToolCall
from dovetail.events.run_context import RunContext
from dovetail.events.run_events import AskKind
from dovetail.extensions.exclusion import Exclusion
from dovetail.extensions.loader import ExtensionHost, ExtensionLoader
from dovetail.ids import new_id
from dovetail.policy.file import PolicyFiles
from dovetail.policy.policy import Policy
from dovetail.settings import open_settings
from dovetail.tools.pipeline.runner import ToolRunner
from dovetail.tools.result import read_value
from dovetail.tools.snapshot import ToolSnapshot


def call_folder_tool(folder: str | Path, tool: str | None = None, /, **arguments: Any) -> Any:
    """Load one extension folder and call its tool through the whole pipeline; returns what the tool returned.

    `folder` is the folder or a file in it, such as the test's own `__file__`. `tool` may be left out where
    the folder has only one. Approvals count as given; what the folder's own rules forbid stays forbidden. The
    settings are those of `dovetail.toml` next to `extensions/`.

    Raises:
        ConfigError: the folder cannot be loaded, or has no such tool.
        ToolError: the arguments are wrong, the call is denied, or the tool failed.

    >>> call_folder_tool("extensions/greet", name="Ann")
    'Hello, Ann.'
    """
    return run_sync(async_call_folder_tool(folder, tool, **arguments))


async def async_call_folder_tool(folder: str | Path, tool: str | None = None, /, **arguments: Any) -> Any:
    """Call a tool as `call_folder_tool` does, in an async test.

    >>> asyncio.run(async_call_folder_tool("extensions/greet", name="Ann"))
    'Hello, Ann.'
    """
    path, siblings = await asyncio.to_thread(_find, folder)
    workspace = path.parent.parent if path.parent.name == "extensions" else path
    loader = ExtensionLoader(
        path.parent,
        workspace=workspace,
        exclusion=lambda: Exclusion(extensions=siblings),
        host=ExtensionHost(settings=open_settings(None, workspace)),
    )
    snapshot = await loader.reload()
    try:
        for failure in snapshot.failed_extensions:
            raise ConfigError(str(failure))
        tools = ToolSnapshot.of(snapshot.tools)
        runner = ToolRunner(Policy(sources=[PolicyFiles(lambda: snapshot.policy_files)]))
        call = ToolCall(call_id=new_id("call"), name=_choose(tool, tools, path), arguments=arguments)
        outcome = await runner.run_call(tools, call, RunContext(mode="yolo", ask=_approve))
    finally:
        await loader.close()
    if (error := outcome.result.error) is not None:
        raise ToolError(error.message, type=error.type, data=outcome.result.data)
    return read_value(outcome.result)


async def _approve(
    kind: AskKind, call_id: str, payload: Mapping[str, Any], seconds: float | None
) -> Mapping[str, Any]:
    return {"approved": kind == "approval"}


def _find(folder: str | Path) -> tuple[Path, frozenset[str]]:
    """Return the folder, and the names of its siblings, which are not loaded."""
    path = Path(folder).resolve()
    path = path if path.is_dir() else path.parent
    return path, frozenset(each.name.casefold() for each in path.parent.iterdir() if each != path)


def _choose(name: str | None, tools: ToolSnapshot, folder: Path) -> str:
    names = list(tools.tools)
    if name is None and len(names) == 1:
        return names[0]
    if name is None or name not in names:
        asked = f"has no tool {name!r}" if name else f"has {len(names)} tools: name one"
        raise ConfigError(f"{folder} {asked}. {expected_one_of(names)}")
    return name
