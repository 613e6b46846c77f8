"""An agent as data: its inputs, output, prompts, model, limits and tools."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from typing import Any, TypeAlias, TypeVar

from dovetail.agents.schedule import AgentSchedule
from dovetail.data.shapes import is_mapping, is_number
from dovetail.data.text import brief_repr, did_you_mean, expected_one_of, shorten
from dovetail.errors import ConfigError
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool, is_callable_name

T = TypeVar("T")

AgentInputs: TypeAlias = Mapping[str, Any]
"""The inputs of one run by name, checked against the schema of the agent's `InputConfig`."""

_MONEY = {"max_cost", "max_cost_per_day"}
_FRACTIONS = {"max_seconds", "timeout_mins", *_MONEY}
INHERIT = "inherit"
"""The name of the caller's model."""
TREE_LIMITS = ("max_depth", "max_children", "max_subagents")
"""The limits of the agents below an agent; zero allows none of them."""
MOST_PRIORITY = 1_000_000
_MAY_BE_ZERO = {*_MONEY, *TREE_LIMITS}


@dataclass(frozen=True, slots=True, kw_only=True)
class InputConfig:
    """The inputs of an agent: `inputs` in the short form, or a whole JSON Schema in `schema`.

    An input is `{"description", "type", "required"}`, optionally with a `default`; `type` is one of string,
    number, integer, boolean, string[], number[].

    >>> InputConfig(inputs={"path": {"type": "string", "description": "the file", "required": True}})
    InputConfig(inputs={'path': {'description': 'the file', 'required': True, 'type': 'string'}})
    """

    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    schema: Mapping[str, Any] | None = None

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputConfig:
    """The output of an agent: the name and JSON Schema of its one result.

    >>> OutputConfig(output_name="report", schema={"type": "object"}).output_name
    'report'
    """

    output_name: str = "result"
    description: str = "The result of the task."
    schema: Mapping[str, Any] | None = None

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptConfig:
    """The prompts of an agent; all texts are templates with `${name}` (`$${` for a plain `${`).

    >>> PromptConfig(system_prompt="You read files.", query="Read ${path}.").query
    'Read ${path}.'
    """

    system_prompt: str = ""
    query: str = ""
    initial_messages: tuple[Mapping[str, Any], ...] = ()

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """The model of an agent; None is the default model of the app, and "inherit" the model of its caller.

    An agent that answers a chat inherits the model of the chat.

    >>> ModelConfig(model="openai:gpt-4.1-mini", options={"temperature": 0}).model
    'openai:gpt-4.1-mini'
    """

    model: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    __repr__ = brief_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """The limits of one run of an agent; None means unlimited, unless the settings `limits` have one.

    `max_cost` (money, in the currency of the prices), `max_calls` (requests to models) and `max_tokens` count
    for the run and the agents below it; those `_per_day` for all runs of the agent in one day (UTC).
    `max_depth` (levels of agents below it), `max_children` (agents it may call) and `max_subagents` (agents
    below it at all depths) default to the settings. With an engine that has queues, the run waits in `queue`,
    and those with a higher `priority` start first.

    >>> RunConfig(max_turns=5, max_cost=0.10)
    RunConfig(max_turns=5, max_cost=0.1)
    """

    max_turns: int | None = 30
    max_seconds: float | None = 600.0
    max_tokens: int | None = None
    max_cost: float | None = None
    max_calls: int | None = None
    max_cost_per_day: float | None = None
    max_calls_per_day: int | None = None
    max_depth: int | None = None
    max_children: int | None = None
    max_subagents: int | None = None
    queue: str = "default"
    priority: int = 0

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        for limit in fields(self):
            if limit.name.startswith("max_"):
                check_limit(limit.name, getattr(self, limit.name))
        check_place(self.queue, self.priority)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolConfig:
    """The tools an agent may use, as names or globs; None means all that its caller may use.

    A mapping switches some of them off, or on again: `{"write_file": False}` means all but this one, and
    `{"*": False, "read_*": True}` only those. The longest glob that matches counts, and a name before globs.
    A tool or function in a list is the agent's own, whether or not its caller may use it. So are the tools of
    `mcp_servers`, which are names of configured servers: no agent has them that does not name the server.

    >>> ToolConfig(tools=["read_*", "search_files"]).names
    ('read_*', 'search_files')
    >>> ToolConfig(tools={"write_file": False}).wants("write_file")
    False
    """

    tools: Sequence[str | Tool | Callable[..., Any]] | Mapping[str, bool] | None = None
    mcp_servers: Sequence[str] = ()

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        for name in ("tools", "mcp_servers"):
            if isinstance(given := getattr(self, name), str):
                raise ConfigError(
                    f"`{name}` must be a list of names, globs or tools, got the text {given!r}."
                )

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names and globs that select from the caller's tools; None if all but some are selected."""
        if is_mapping(self.tools):
            return None if self.tools.get("*", True) else tuple(name for name, on in self.tools.items() if on)
        return None if self.tools is None else tuple(tool for tool in self.tools if isinstance(tool, str))

    @property
    def written(self) -> tuple[str, ...]:
        """All names and globs, those that are switched off included."""
        return tuple(self.tools) if is_mapping(self.tools) else self.names or ()

    @property
    def own(self) -> tuple[Tool, ...]:
        """The tools that the agent brings itself."""
        own = (
            [] if is_mapping(self.tools) else [tool for tool in self.tools or () if not isinstance(tool, str)]
        )
        return tuple(tool if isinstance(tool, Tool) else make_tool(tool) for tool in own)

    def wants(self, name: str) -> bool:
        """Return whether the agent is to have a tool of this name, if its caller has it."""
        if is_mapping(self.tools):
            return _find_switch(self.tools, name) is not False
        return self.names is None or any(fnmatchcase(name, glob) for glob in self.names)

    def refuses(self, name: str) -> bool:
        """Return whether a tool of this name is switched off, by more than `*`."""
        if not is_mapping(self.tools):
            return False
        return _find_switch({glob: on for glob, on in self.tools.items() if glob != "*"}, name) is False

    def owns(self, tool: Tool) -> bool:
        """Return whether a tool comes from one of the agent's own MCP servers, and is not switched off."""
        return tool.origin in {f"mcp:{name}" for name in self.mcp_servers} and not self.refuses(tool.name)


def _find_switch(switches: Mapping[str, bool], name: str) -> bool | None:
    fitting = [glob for glob in switches if fnmatchcase(name, glob)]
    return switches[max(fitting, key=lambda glob: (glob == name, len(glob)))] if fitting else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition:
    """An agent, defined once, which every other agent can call like a tool (unless `is_tool` is off).

    With `background` it works in the background wherever that is possible: its caller does not wait for it.
    Each config may be a mapping: `input_config={"inputs": {"task": {"type": "string"}}}`.

    >>> AgentDefinition(
    ...     name="reader",
    ...     description="Reads a file and says what is in it.",
    ...     input_config={"inputs": {"path": {"type": "string", "description": "the file"}}},
    ...     prompt_config={"system_prompt": "You read files.", "query": "Read ${path}."},
    ... ).name
    'reader'
    """

    name: str
    description: str
    display_name: str = ""
    input_config: InputConfig = field(default_factory=InputConfig)
    output_config: OutputConfig | None = None
    prompt_config: PromptConfig = field(default_factory=PromptConfig)
    model_config: ModelConfig = field(default_factory=ModelConfig)
    run_config: RunConfig = field(default_factory=RunConfig)
    tool_config: ToolConfig = field(default_factory=ToolConfig)
    is_tool: bool = True
    background: bool = False
    schedules: tuple[AgentSchedule, ...] = ()
    source: str = "code"
    process_output: Callable[[Any], str] | None = None
    """Convert the result or the answer to the text that the caller reads."""

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        for name, config in _CONFIGS.items():
            object.__setattr__(self, name, read_config(config, getattr(self, name)))


_CONFIGS = {
    "input_config": InputConfig,
    "output_config": OutputConfig,
    "prompt_config": PromptConfig,
    "model_config": ModelConfig,
    "run_config": RunConfig,
    "tool_config": ToolConfig,
}


def read_config(config: type[T], value: Any) -> T:
    """Build a config from a mapping of its fields; return anything else as it is.

    Raises:
        ConfigError: the mapping has a key that is not a field.
    """
    if not is_mapping(value):
        return value
    known = [field.name for field in fields(config)]  # pyright: ignore[reportArgumentType]
    if unknown := [key for key in value if key not in known]:
        expected = did_you_mean(unknown[0], known) or expected_one_of(known)
        raise ConfigError(f"Unknown key {unknown[0]!r} in {config.__name__}. {expected}")
    return config(**value)


def check_limit(name: str, value: Any) -> None:
    """Check that a limit is a positive, finite number (whole, except for seconds) or None.

    A limit of money, or of the agents below an agent, may also be zero.

    Raises:
        ConfigError: the limit has another value.
    """
    if value is None:
        return
    if not is_number(value) or value < 0 or (value == 0 and name not in _MAY_BE_ZERO):
        raise ConfigError(f"`{name}` must be a positive number, got {shorten(value)}.")
    if name not in _FRACTIONS and not isinstance(value, int):
        raise ConfigError(f"`{name}` must be a whole number, got {value!r}.")


def check_place(queue: Any, priority: Any) -> None:
    """Check in which queue a run waits, and with which priority.

    Raises:
        ConfigError: the queue is not a name, or the priority not a whole number.
    """
    if not isinstance(queue, str) or not is_callable_name(queue):
        hint = "Use 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`."
        raise ConfigError(f"`queue` must be a name, got {shorten(queue)}.", hint=hint)
    if not isinstance(priority, int) or isinstance(priority, bool) or abs(priority) > MOST_PRIORITY:
        raise ConfigError(
            f"`priority` must be a whole number from -{MOST_PRIORITY} to {MOST_PRIORITY}, "
            f"got {shorten(priority)}."
        )


def check_definition(definition: AgentDefinition) -> None:
    """Check that model providers accept an agent as a function.

    Raises:
        ConfigError: the name is longer than 64 characters or has other than plain ones, or the description
            is missing.
    """
    if not isinstance(definition, AgentDefinition):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConfigError(f"An agent must be an AgentDefinition, got {shorten(definition)}.")
    name, description = definition.name, definition.description
    if not isinstance(name, str) or not is_callable_name(name):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConfigError(
            f"Invalid agent name {shorten(name)}.",
            hint="Use 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`; model providers reject others.",
        )
    if not isinstance(description, str) or not description.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConfigError(
            f"Agent {name!r} has no description.",
            hint="Other agents read the description to decide when to call it.",
        )


_TYPES: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "string[]": {"type": "array", "items": {"type": "string"}},
    "number[]": {"type": "array", "items": {"type": "number"}},
}


def convert_input_config_to_json_schema(input_config: InputConfig | Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an agent's inputs; an unknown type counts as string.

    Raises:
        ConfigError: the inputs, or one of them, are not a mapping.

    >>> path = {"type": "string", "description": "the file"}
    >>> convert_input_config_to_json_schema(InputConfig(inputs={"path": path}))["properties"]
    {'path': {'type': 'string', 'description': 'the file'}}
    """
    config = read_config(InputConfig, input_config)
    if config.schema is not None:
        return copy.deepcopy(dict(config.schema))
    for name, spec in _check_mapping(config.inputs, "`inputs`").items():
        _check_mapping(spec, f"Input {name!r}")
    return {
        "type": "object",
        "properties": {name: _convert(spec) for name, spec in config.inputs.items()},
        "required": [name for name, spec in config.inputs.items() if spec.get("required")],
    }


def _check_mapping(value: Any, owner: str) -> Mapping[str, Any]:
    if not is_mapping(value):
        raise ConfigError(f"{owner} must be a mapping, got {shorten(value)}.")
    return value


def fill_defaults(config: InputConfig, inputs: AgentInputs) -> dict[str, Any]:
    """Return the inputs for templates: a missing one has its default, otherwise it is empty text."""
    properties: Any = convert_input_config_to_json_schema(config).get("properties")
    known: Mapping[str, Any] = properties if is_mapping(properties) else {}
    return {name: _find_default(spec) for name, spec in known.items()} | dict(inputs)


def find_unknown_types(config: InputConfig) -> dict[str, str]:
    """Return the inputs whose type is unknown and therefore counts as string, with that type."""
    types = {name: str(spec.get("type", "string")) for name, spec in config.inputs.items()}
    return {name: type for name, type in types.items() if type not in _TYPES}


def _convert(spec: Mapping[str, Any]) -> dict[str, Any]:
    shape = _TYPES.get(str(spec.get("type", "string")), _TYPES["string"])
    converted = {"type": shape["type"], "description": str(spec.get("description") or "")}
    if "items" in shape:
        converted["items"] = dict(shape["items"])
    if "default" in spec:
        converted["default"] = spec["default"]
    return converted


def _find_default(spec: Any) -> Any:
    return spec.get("default", "") if is_mapping(spec) else ""
