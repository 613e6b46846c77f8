"""Read the tools of an extension module and check every field (rules F3 to F11).

They are the dicts in `TOOL` or `TOOLS`, and the functions of the folder that are decorated with `@tool`.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from dovetail.data.clean import clean_data, clean_text
from dovetail.data.shapes import is_list, is_mapping, is_number, is_tuple
from dovetail.data.text import explain_choices, explain_unknown, shorten
from dovetail.errors import ExtensionError
from dovetail.events.call import Kind
from dovetail.extensions.folder import find_tool_lines
from dovetail.extensions.parameters import CallPlan, plan_call, to_json_schema
from dovetail.tools.makers.function import FunctionTool
from dovetail.tools.makers.langchain import LANGCHAIN_HINT, is_langchain
from dovetail.tools.tool import TIME_LIMIT, Preview, Tool, is_callable_name

REQUIRED_FIELDS = ("label", "name", "description", "parameters", "execute")
OPTIONAL_FIELDS = ("title", "kind", "time_limit", "browser", "preview")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """One checked tool of a folder; without a function it runs in the browser.

    `made` is a tool that the folder itself made with `@tool`; it is used as it is.
    """

    label: str
    name: str
    title: str = ""
    description: str
    schema: Mapping[str, Any]
    function: Callable[..., Any] | None
    plan: CallPlan | None
    kind: Kind
    time_limit: float | None
    line: int | None = None
    made: Tool | None = None
    preview: Preview | None = None


def read_definitions(module: ModuleType, source: bytes) -> tuple[list[ToolDefinition], list[str]]:
    """Return the module's tools and notices; an error about a field names the tool and the line."""
    exported, notices = _read_exports(module)
    decorated = _find_decorated(module, exported)
    if not exported and not decorated:
        raise ExtensionError(
            "exports neither TOOL nor TOOLS",
            file=getattr(module, "__file__", None),
            hint="TOOL is a dict, TOOLS a list of dicts; or decorate a function with @tool "
            "(from dovetail import tool).",
        )
    entries: list[Any] = [*exported, *decorated]
    lines = [*find_tool_lines(source, len(exported)), *map(_find_line, decorated)]
    definitions: list[ToolDefinition] = []
    for entry, line in zip(entries, lines, strict=True):
        try:
            definition = replace(_read_definition(entry), line=line)
            if any(definition.name == other.name for other in definitions):
                raise ExtensionError(f"two tools have the name {definition.name!r}")
        except ExtensionError as error:
            raise ExtensionError(
                f"{_describe(entry)}{error.message}",
                file=getattr(module, "__file__", None),
                line=error.line or line,
                hint=error.hint,
            ) from error
        definitions.append(definition)
        if definition.made is None:
            notices += _find_unknown_fields(entry, definition.name)
    return definitions, notices


def _read_exports(module: ModuleType) -> tuple[Sequence[Any], list[str]]:
    single, several = getattr(module, "TOOL", None), getattr(module, "TOOLS", None)
    file = getattr(module, "__file__", None)
    if single is not None:
        return [single], ["has both TOOL and TOOLS; using TOOL"] if several is not None else []
    if several is None:
        return [], []
    if not (is_list(several) or is_tuple(several)):
        raise ExtensionError(f"TOOLS must be a list of dicts, got {type(several).__name__}", file=file)
    if not several:
        raise ExtensionError("TOOLS is empty", file=file)
    return several, []


def _find_decorated(module: ModuleType, exported: Sequence[Any]) -> list[FunctionTool[..., Any]]:
    """Return the functions of the folder decorated with `@tool`, unless `TOOL` or `TOOLS` names some itself.

    Those of other packages are only used by the folder, and names that begin with `_` are private.
    """
    if any(isinstance(entry, Tool) for entry in exported):
        return []
    package = module.__name__.partition(".")[0]
    executes = [entry.get("execute") for entry in exported if is_mapping(entry)]
    found: list[FunctionTool[..., Any]] = [
        value
        for name, value in vars(module).items()
        if isinstance(value, FunctionTool) and not name.startswith("_") and value not in executes
    ]
    own = [tool for tool in found if _find_module(tool).partition(".")[0] == package]
    return list(dict.fromkeys(own))


def _find_module(tool: FunctionTool[..., Any]) -> str:
    return str(getattr(tool.function, "__module__", ""))


def _find_line(tool: FunctionTool[..., Any]) -> int | None:
    code = getattr(inspect.unwrap(tool.function), "__code__", None)
    return None if code is None else code.co_firstlineno


def _read_definition(entry: Any) -> ToolDefinition:
    if isinstance(entry, Tool):
        return _read_made(entry)
    if not is_mapping(entry):
        raise ExtensionError(
            f"a tool must be a dict, got {type(entry).__name__}",
            hint=LANGCHAIN_HINT
            if is_langchain(entry)
            else "Or decorate a function with @tool (from dovetail import tool).",
        )
    function = _read_function(entry)
    label, name, description = (_read_text(entry, field) for field in ("label", "name", "description"))
    if not is_callable_name(name):
        raise ExtensionError(f"name must be 1 to 64 letters, digits, _ or -, got {name!r}")
    if not is_mapping(entry["parameters"]):
        raise ExtensionError(f"parameters must be a dict, got {type(entry['parameters']).__name__}")
    schema = to_json_schema(entry["parameters"])
    return ToolDefinition(
        label=label,
        name=name,
        title=_read_text(entry, "title") if "title" in entry else "",
        description=description,
        schema=clean_data(schema),  # a default of infinity is for the function, not for JSON
        function=function,
        plan=None if function is None else plan_call(function, schema),
        kind=_read_kind(entry.get("kind", Kind.Other)),
        time_limit=_read_time_limit(entry.get("time_limit", None if function is None else TIME_LIMIT)),
        preview=_read_preview(entry.get("preview")),
    )


def _read_made(tool: Tool) -> ToolDefinition:
    if not tool.description.strip():
        raise ExtensionError(
            "description must not be empty",
            hint="Write a docstring, or pass one: @tool(description='…').",
        )
    return ToolDefinition(
        label=next(iter(tool.tags), ""),
        name=tool.name,
        description=tool.description,
        schema=tool.parameters,
        function=None,
        plan=None,
        kind=tool.kind,
        time_limit=tool.time_limit,
        made=tool,
    )


def _read_function(entry: Mapping[str, Any]) -> Callable[..., Any] | None:
    """Return the function to call; None if the tool runs in the browser."""
    browser = entry.get("browser", False)
    if not isinstance(browser, bool):
        raise ExtensionError(f"browser must be True or False, got {browser!r}")
    needed = [name for name in REQUIRED_FIELDS if not (browser and name == "execute")]
    if missing := [name for name in needed if name not in entry]:
        raise ExtensionError(f"missing {', '.join(missing)}", hint=f"Required: {', '.join(needed)}.")
    if browser:
        if "execute" in entry:
            raise ExtensionError("has both execute and browser", hint="Remove one of them.")
        return None
    execute = entry["execute"]
    if isinstance(execute, FunctionTool):
        return execute.function
    if isinstance(execute, Tool):
        raise ExtensionError(f"execute must be a function, got the tool {execute.name!r}")
    if not callable(execute):
        raise ExtensionError(
            f"execute must be callable, got {shorten(execute)}",
            hint="Pass the function itself: 'execute': my_function, without parentheses.",
        )
    return execute


def _read_text(entry: Mapping[str, Any], field: str) -> str:
    value = entry[field]
    if not isinstance(value, str) or not value.strip():
        raise ExtensionError(f"{field} must be a non-empty string, got {value!r}")
    return clean_text(value.strip())


def _read_kind(value: Any) -> Kind:
    try:
        return Kind(str(value).lower())
    except ValueError as error:
        raise ExtensionError(explain_choices("kind", value, Kind)) from error


def _read_time_limit(value: Any) -> float | None:
    if value is None:
        return None
    if not is_number(value) or value <= 0:
        raise ExtensionError(f"time_limit must be a number of seconds above 0 or None, got {value!r}")
    return float(value)


def _read_preview(value: Any) -> Preview | None:
    if value is None or callable(value):
        return value
    raise ExtensionError(
        f"preview must be callable, got {shorten(value)}",
        hint="Pass a function of the arguments and the context: 'preview': show_change.",
    )


def _describe(entry: Any) -> str:
    if not is_mapping(entry) and not isinstance(entry, Tool):
        return ""
    name = entry.name if isinstance(entry, Tool) else entry.get("name")
    return f"tool {name!r}: " if isinstance(name, str) and name else "a tool without a name: "


def _find_unknown_fields(entry: Mapping[str, Any], name: str) -> list[str]:
    notices: list[str] = []
    for field in entry:
        if field not in (known := (*REQUIRED_FIELDS, *OPTIONAL_FIELDS)):
            notices.append(f"tool {name!r}: {explain_unknown('field', field, known)}")
    return notices
