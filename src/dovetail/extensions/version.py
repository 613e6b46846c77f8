"""One version of an extension folder: imported, checked, its tools built."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dovetail.bus.policy_file import PolicyFile
from dovetail.errors import ConfigError, ExtensionError
from dovetail.extensions.calling import CallPlan
from dovetail.extensions.definition import ToolDefinition, read_definitions
from dovetail.extensions.exclusion import Exclusion
from dovetail.extensions.extension import POLICY
from dovetail.extensions.folder import ENTRY, ExtensionFolder
from dovetail.extensions.importing import ImportedFolder
from dovetail.extensions.lifetime import Lease
from dovetail.tools.browser import make_browser_tool
from dovetail.tools.coerce import coerce_arguments
from dovetail.tools.function import make_tool
from dovetail.tools.tool import Execute, Tool, ToolContext


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionVersion:
    """A folder's tools as they were when it was read."""

    folder: ExtensionFolder
    tools: tuple[Tool, ...]
    notices: tuple[str, ...]
    lease: Lease
    agents: tuple[str, ...]
    """Names of the agents that its files define."""
    lines: Mapping[str, int | None]
    """Where in the entry file each tool is written, as far as that is known."""

    def select_tools(self, exclusion: Exclusion) -> list[Tool]:
        """The tools that the environment does not leave out."""
        return [tool for tool in self.tools if not exclusion.has_tool(tool.name)]


def make_version(
    folder: ExtensionFolder, imported: ImportedFolder, lease: Lease, agents: Iterable[str]
) -> ExtensionVersion:
    """Check what the folder exports and build its tools."""
    source = folder.sources.get(ENTRY)
    definitions, notices = ([], []) if source is None else read_definitions(imported.module, source)
    _check_policy(folder.path / POLICY)
    return ExtensionVersion(
        folder=folder,
        tools=tuple(_build_tool(definition, folder, lease) for definition in definitions),
        notices=(*imported.notices, *notices),
        lease=lease,
        agents=tuple(agents),
        lines={definition.name: definition.line for definition in definitions},
    )


def _check_policy(path: Path) -> None:
    """A folder whose rules cannot be read does not serve: they may forbid what its tools do."""
    try:
        PolicyFile(path, may_allow=False).read()
    except ConfigError as error:
        raise ExtensionError(error.message, file=str(path), hint=error.hint) from error


@dataclass(frozen=True, slots=True)
class _Execute:
    """Calls the function and holds the lease, so that the code lives as long as the tool."""

    call: Execute
    plan: CallPlan | None
    lease: Lease

    async def __call__(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        return await self.call(arguments if self.plan is None else self.plan.apply(arguments), context)


def _build_tool(definition: ToolDefinition, folder: ExtensionFolder, lease: Lease) -> Tool:
    try:
        tool = _make_tool(definition, folder, lease)
        _ = tool.checker  # a schema that cannot be compiled fails here, not in a run
    except ConfigError as error:
        file = str(folder.path / ENTRY)
        raise ExtensionError(error.message, file=file, line=definition.line, hint=error.hint) from error
    return tool


def _make_tool(definition: ToolDefinition, folder: ExtensionFolder, lease: Lease) -> Tool:
    function, plan = definition.function, definition.plan
    common: dict[str, Any] = {
        "name": definition.name,
        "display_name": definition.title,
        "description": definition.description,
        "parameters": definition.schema,
        "kind": definition.kind,
        "tags": (definition.label,),
        "origin": f"extension:{folder.name}",
        "source": f"{folder.path / ENTRY}:{getattr(function, '__name__', definition.name)}",
    }
    if (made := definition.made) is not None:
        return made.with_changes(
            execute=_Execute(made.execute, None, lease),
            origin=common["origin"],
            source=common["source"],
            tags=made.tags or (folder.name,),
        )
    if function is None or plan is None:
        return make_browser_tool(**common, patience=definition.time_limit)
    tool = make_tool(function, **common, time_limit=definition.time_limit)
    execute = _Execute(tool.execute, _read_defaults(tool, plan), lease)
    return tool.with_changes(execute=execute, takes=tool.takes if plan.dict_name is None else None)


def _read_defaults(tool: Tool, plan: CallPlan) -> CallPlan:
    """The plan with its defaults read as arguments are, so that "3" for an integer is 3."""
    try:
        read = coerce_arguments(tool, dict(plan.absent)).args
    except ValueError:  # one that JSON does not know, such as infinity
        return plan
    return replace(plan, absent={**plan.absent, **read})
