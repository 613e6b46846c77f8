"""The contract: a `Tool` is data plus one coroutine, and every maker returns this type."""

import dataclasses
import hashlib
import json
import re
import sys
from collections.abc import Awaitable, Callable, Container, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeAlias

from dovetail.data.clean import clean_data, clean_text
from dovetail.data.shapes import is_mapping, is_number
from dovetail.data.text import brief_repr, explain_choices, shorten
from dovetail.errors import ConfigError, SignatureError
from dovetail.events.call import CallStatus, Kind, ToolCall, ToolSpec
from dovetail.events.tool_context import ToolContext
from dovetail.lazy import lazy
from dovetail.schema.validate import Checker, compile_schema

_view = lazy("dovetail.data.rich_view")

TIME_LIMIT = 120.0
"""Seconds that a call may take, unless its tool has a limit of its own."""


@dataclass(frozen=True, slots=True)
class ToolFailure:
    """Why a call failed: a text for the model and a snake_case word for programs.

    >>> ToolResult("Error: no such item", error=ToolFailure("no such item", "not_found")).error.type
    'not_found'
    """

    message: str
    type: str = "execution_failed"

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", clean_text(self.message))


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call: `llm_content` for the model, `return_display` for people, `data` for programs.

    `notes` describe changes to the call before it ran; the model reads them in `llm_content`.

    >>> ToolResult("3 chisels", return_display="**3** chisels", data=3).data
    3
    """

    llm_content: str | list[dict[str, Any]]
    return_display: Any = None
    error: ToolFailure | None = None
    data: Any = None
    notes: tuple[str, ...] = ()

    __repr__ = brief_repr

    def _repr_html_(self) -> str:
        """Show in a notebook what the model reads."""
        content = self.llm_content
        return _view.show_text(content) if isinstance(content, str) else _view.show_data(content)

    def __post_init__(self) -> None:
        """Clean the model's text; the texts for people and programs are cleaned when they are sent."""
        content = self.llm_content
        cleaned = clean_text(content) if isinstance(content, str) else clean_data(content)
        if cleaned is not content:
            object.__setattr__(self, "llm_content", cleaned)


_COMPOSED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties"})
"""Keywords of a schema that may declare members in addition to `properties`."""

Execute: TypeAlias = Callable[[dict[str, Any], ToolContext], Awaitable[Any]]
Preview: TypeAlias = Callable[[dict[str, Any], ToolContext], Any]
"""What a call would do, for the person who is asked to approve it; the forms are in `tools/preview.py`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Tool:
    """A capability of an agent; called only through the pipeline in `pipeline/runner.py`.

    `origin` is where it comes from (`code`, `extension:weather`, `mcp:files`, `agent`, …), `source` where it
    is defined (`module:function`, a path), for messages and to distinguish a redefinition from a clash.
    `takes` names all arguments of its function, if `parameters` would allow others. A tool that `steps_aside`
    is renamed if a tool that does not wants its name. A call of a `resumable` tool that a crash cut off is
    made again and continues what it had begun, as an agent does. `preview` shows what a call would do.

    >>> async def count(args, context):
    ...     return len(args["items"])
    >>> items = {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]}
    >>> Tool(name="count", description="Count items.", parameters=items, execute=count, kind=Kind.Read)
    Tool(name='count', description='Count items.', parameters=['items'], kind='read')
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    execute: Execute
    kind: Kind = Kind.Other
    display_name: str = ""
    tags: tuple[str, ...] = ()
    origin: str = "code"
    source: str = ""
    is_output_markdown: bool = False
    can_update_output: bool = False
    idempotent: bool = False
    resumable: bool = False
    needs_tab: bool = False
    time_limit: float | None = TIME_LIMIT
    takes: frozenset[str] | None = None
    steps_aside: bool = False
    preview: Preview | None = None
    _checker: Checker | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "description", clean_text(self.description))
        object.__setattr__(self, "kind", _read_kind(self.kind, self.name))
        limit = self.time_limit
        if limit is not None and (not is_number(limit) or limit <= 0):
            raise ConfigError(
                f"The time_limit of tool {self.name!r} must be seconds above 0 or None, got {limit!r}."
            )

    def __repr__(self) -> str:
        said = f"name={self.name!r}, description={shorten(self.description)}"
        return f"{type(self).__name__}({said}, parameters={[*self.defaults]}, kind={self.kind.value!r})"

    def _repr_html_(self) -> str:
        """Show the tool and its arguments in a notebook."""
        properties: Mapping[str, Any] = self.parameters.get("properties") or {}
        required = self.parameters.get("required", ())
        rows = [
            (name, schema.get("type", ""), "yes" if name in required else "", schema.get("description", ""))
            for name, schema in properties.items()
            if is_mapping(schema)
        ]
        table = _view.show_table(("argument", "type", "required", "description"), rows) if rows else ""
        return _view.show_title(self.name, self.kind.value) + _view.show_text(self.description) + table

    @property
    def title(self) -> str:
        """The name people see."""
        return self.display_name or self.name

    @property
    def spec(self) -> ToolSpec:
        """The description of this tool for a model."""
        return ToolSpec(name=self.name, description=self.description, parameters=self.parameters)

    @property
    def schema(self) -> ToolSpec:
        """The same under the name that declarative tools use: `schema.parameters_json_schema`."""
        return self.spec

    @property
    def is_read_only(self) -> bool:
        """Whether calls of this tool change nothing; several such calls may run at the same time."""
        return self.kind.is_read_only

    @property
    def may_repeat(self) -> bool:
        """Whether a call that a crash cut off may be made again."""
        return self.idempotent or self.resumable

    @property
    def owner(self) -> str:
        """The origin and source of the tool, for messages."""
        return f"{self.origin} ({self.source})" if self.source else self.origin

    @property
    def defaults(self) -> dict[str, Any]:
        """The default of each argument; None if the schema has none."""
        properties = self.parameters.get("properties")
        if not is_mapping(properties):
            return {}
        return {
            name: schema.get("default") if is_mapping(schema) else None for name, schema in properties.items()
        }

    @property
    def fingerprint(self) -> str:
        """A fingerprint of the tool's own description; empty unless it comes from outside (an MCP server)."""
        if not self.origin.startswith("mcp:"):
            return ""
        said = [self.source, self.description, self.parameters, self.kind.value]
        return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()[:16]

    @property
    def checker(self) -> Checker:
        """The compiled parameter schema; a schema that cannot be compiled is a `ConfigError`."""
        if self._checker is None:
            object.__setattr__(self, "_checker", compile_schema(self._checked, owner=self.name))
        return self._checker or self.checker

    @property
    def _checked(self) -> Mapping[str, Any]:
        """The schema that calls are checked against: an argument that the function lacks is invalid."""
        if self.takes is None or self.parameters.get("additionalProperties") is False:
            return self.parameters
        names = self.takes if _COMPOSED.intersection(self.parameters) else ()
        members: dict[str, Any] = {**dict.fromkeys(names, True), **self.parameters.get("properties", {})}
        return {**self.parameters, "properties": members, "additionalProperties": False}

    def describe(self, args: Mapping[str, Any]) -> str:
        """Describe in a few words what a call with these arguments will do."""
        return self.title

    def resolve(self, args: dict[str, Any]) -> "tuple[Tool, dict[str, Any]]":
        """Return the tool that a call with these arguments means; one that stands for others says which."""
        return self, args

    def with_changes(self, **changes: Any) -> "Tool":
        """Return a plain tool that differs in some fields and executes the same."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(Tool) if field.init}
        return Tool(**{**fields, **changes})


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """The one outcome of one call; `duration` is in seconds.

    >>> call = ToolCall(call_id="1", name="count", arguments={})
    >>> CallOutcome(call=call, status="ok", result=ToolResult("3")).status
    'ok'
    """

    call: ToolCall
    status: CallStatus
    result: ToolResult
    duration: float = 0.0


def _read_kind(value: Any, name: str) -> Kind:
    try:
        return Kind(value)
    except ValueError as error:
        raise ConfigError(f"Tool {name!r}: {explain_choices('kind', value, Kind)}") from error


LONGEST_NAME = 64
_NAME = re.compile(rf"[a-zA-Z0-9_-]{{1,{LONGEST_NAME}}}")


def is_callable_name(name: str) -> bool:
    """Whether model providers accept the name for a tool, and so for an agent that is called as one."""
    return _NAME.fullmatch(name) is not None


def check_name(name: str) -> None:
    """Reject a name that model providers reject, with every request that offers the tool.

    Raises:
        ConfigError: the name is empty, too long or has other characters.
    """
    if not is_callable_name(name):
        raise ConfigError(
            f"Invalid tool name {name!r}: it must be 1 to {LONGEST_NAME} letters (a-z), digits, _ or -.",
            hint="Model providers reject other names. Choose one: make_tool(function, name='my_tool').",
        )


def find_free_name(name: str, taken: Container[str]) -> str:
    """Return the nearest name that model providers accept and that is free."""
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:LONGEST_NAME] or "tool"
    free, number = name, 2
    while free in taken:
        ending = f"_{number}"
        free, number = f"{name[: LONGEST_NAME - len(ending)]}{ending}", number + 1
    return free


def rename(origin: str, name: str, taken: Container[str]) -> str:
    """Return a free name for a tool whose own is taken: prefixed with the name of its origin."""
    return find_free_name(f"{origin.rpartition(':')[2]}_{name}", taken)


class _ToolModule(ModuleType):
    """This module, which `from dovetail.tools import tool` finds in place of the decorator."""

    def __call__(self, *args: object, **kwargs: object) -> None:
        raise SignatureError(
            "'dovetail.tools.tool' is the module of the class Tool, not the decorator.",
            hint="Write `from dovetail import tool`.",
        )


sys.modules[__name__].__class__ = _ToolModule
