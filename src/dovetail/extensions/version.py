"""One version of an extension folder: imported, checked, its tools built."""

from dataclasses import dataclass
from typing import Any

from dovetail.errors import ConfigError, ExtensionError, ToolError
from dovetail.extensions.calling import CallPlan
from dovetail.extensions.definition import ToolDefinition, read_definitions
from dovetail.extensions.exclusion import Exclusion
from dovetail.extensions.folder import ENTRY, ExtensionFolder
from dovetail.extensions.importing import ImportedFolder
from dovetail.extensions.lifetime import Lease
from dovetail.tools.function import make_tool
from dovetail.tools.tool import Execute, Tool, ToolContext


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionVersion:
    """A folder's tools as they were when it was read."""

    folder: ExtensionFolder
    tools: tuple[Tool, ...]
    notices: tuple[str, ...]
    lease: Lease

    def select_tools(self, exclusion: Exclusion) -> list[Tool]:
        """The tools that the environment does not leave out."""
        return [tool for tool in self.tools if not exclusion.has_tool(tool.name)]


def make_version(folder: ExtensionFolder, imported: ImportedFolder, lease: Lease) -> ExtensionVersion:
    """Check what the folder exports and build its tools."""
    definitions, notices = read_definitions(imported.module, folder.sources[ENTRY])
    try:
        tools = tuple(_build_tool(definition, folder, lease) for definition in definitions)
    except ConfigError as error:
        raise ExtensionError(error.message, file=str(folder.path / ENTRY), hint=error.hint) from error
    return ExtensionVersion(
        folder=folder,
        tools=tools,
        notices=(*imported.notices, *notices),
        lease=lease,
    )


@dataclass(frozen=True, slots=True)
class _Execute:
    """Calls the function and holds the lease, so that the code lives as long as the tool."""

    call: Execute
    plan: CallPlan
    lease: Lease

    async def __call__(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        try:
            return await self.call(self.plan.apply(arguments), context)
        except SystemExit as error:  # would end the event loop
            raise ToolError(f"the tool called sys.exit({error.code!r})") from error


def _build_tool(definition: ToolDefinition, folder: ExtensionFolder, lease: Lease) -> Tool:
    function = definition.function
    tool = make_tool(
        function,
        name=definition.name,
        description=definition.description,
        kind=definition.kind,
        parameters=definition.schema,
        tags=(definition.label,),
        origin=f"extension:{folder.name}",
        source=f"{folder.path / ENTRY}:{getattr(function, '__name__', definition.name)}",
        time_limit=definition.time_limit,
    )
    built = tool.with_changes(execute=_Execute(tool.execute, definition.plan, lease))
    _ = built.checker  # a schema that cannot be compiled fails here, not in a run
    return built
