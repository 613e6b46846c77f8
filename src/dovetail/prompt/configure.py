"""Prompt configurations (rule A120): YAML or JSON text in, steps for an agent's prompts out.

`.agent` and `$key` write to the agent's prompt, `.request` and every other key to the request's, `.alias`
calls methods of the agent, `.about` describes the file. The steps keep the document's order and do not
depend on an agent. Directives are read before placeholders are filled, so that no value from outside is ever
taken for a directive.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dovetail.data.paths import get_path, split_path
from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.template import fill, fill_text
from dovetail.data.text import did_you_mean, expected_one_of, shorten
from dovetail.errors import ConfigError, PromptArgumentsError, PromptSyntaxError, PromptTypeError
from dovetail.prompt.prompt import Prompt
from dovetail.prompt.source import (
    UTF_8,
    KeyPath,
    Source,
    find_nearest,
    find_positions,
    looks_like_path,
    read_source,
)
from dovetail.schema.notation import read_output, read_tools

Scope = Literal["agent", "request"]
Mappings = Mapping[str, Any]

_ALIAS_HINT = (
    "write them by name, {instruct: {prompt: be brief}}, or in a list, {instruct: {.args: [be brief]}}"
)
ABOUT = ".about"
"""Describes the file and its variables, whose defaults fill placeholders; it writes nothing itself."""
_DIRECTIVES = (".agent", ".request", ".alias", ABOUT)
_READERS: dict[str, Callable[[Any], Any]] = {"output": read_output, "tools": read_tools}


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotStep:
    """Set a slot of the agent's or the request's prompt; `mappings` fill its key and its value."""

    scope: Scope
    key: str
    value: Any
    mappings: Mappings | None = None

    def apply(self, prompt: Prompt) -> None:
        """Set the slot in its prompt."""
        prompt.set(self.key, self.value, self.mappings)


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasStep:
    """Call the agent's method of this name; `problem` says why its parameters are invalid, if they are."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    problem: ConfigError | None = None

    def apply(self, method: Callable[..., object]) -> None:
        """Call the method with the parameters."""
        if self.problem is not None:
            raise self.problem
        method(*self.args, **self.kwargs)


@dataclass(frozen=True, slots=True)
class Configuration:
    """The steps of a configuration in the document's order; `doubts` are keys that may be mistakes."""

    steps: tuple[SlotStep | AliasStep, ...]
    doubts: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def agent(self) -> dict[str, Any]:
        """The slots of the agent's prompt."""
        return self._collect("agent")

    @property
    def request(self) -> dict[str, Any]:
        """The slots of the request's prompt."""
        return self._collect("request")

    @property
    def aliases(self) -> tuple[AliasStep, ...]:
        """The methods it calls."""
        return tuple(step for step in self.steps if isinstance(step, AliasStep))

    def apply(self, agent: Prompt, request: Prompt, call: Callable[[AliasStep], object]) -> None:
        """Apply every step: slots to the two prompts, alias steps to `call`."""
        for step in self.steps:
            if isinstance(step, AliasStep):
                call(step)
            else:
                step.apply(agent if step.scope == "agent" else request)

    def _collect(self, scope: Scope) -> dict[str, Any]:
        prompt = Prompt()
        for step in self.steps:
            if isinstance(step, SlotStep) and step.scope == scope:
                step.apply(prompt)
        return prompt.get()


def read_yaml_prompt(
    path_or_content: str | Path,
    mappings: Mappings | None = None,
    prompt_key_path: str | None = None,
    encoding: str | None = UTF_8,
) -> Configuration:
    """Read the configuration in a YAML file or text; `prompt_key_path` selects a part of the document."""
    return configure(read_source(path_or_content, "yaml", encoding), mappings, prompt_key_path)


def read_json_prompt(
    path_or_content: str | Path,
    mappings: Mappings | None = None,
    prompt_key_path: str | None = None,
    encoding: str | None = UTF_8,
) -> Configuration:
    """Read the configuration in a JSON or JSON5 file or text; `prompt_key_path` selects a part of it."""
    return configure(read_source(path_or_content, "json", encoding), mappings, prompt_key_path)


def configure(
    source: Source, mappings: Mappings | None = None, prompt_key_path: str | None = None
) -> Configuration:
    """Return the steps of a configuration."""
    if mappings is not None and not is_mapping(mappings):
        raise PromptTypeError(f"mappings must be a mapping of names to values, got {shorten(mappings)}")
    document = source.parse()
    data = _find_part(document, prompt_key_path) if prompt_key_path else document
    if not is_mapping(data):
        raise _make_type_error(source, data, prompt_key_path)
    values = {**_find_defaults(data.get(ABOUT)), **(mappings or {})}
    reader = _Reader(
        source, tuple(split_path(prompt_key_path)) if prompt_key_path else (), values or mappings
    )
    steps: list[SlotStep | AliasStep] = []
    for key, value in data.items():
        if key == ABOUT:
            continue
        steps += reader.read_aliases(value) if key == ".alias" else reader.read_entry(str(key), value)
    unknown = [str(key) for key in data if str(key).startswith(".") and key not in _DIRECTIVES]
    return Configuration(tuple(steps), {key: _describe_unknown(key) for key in unknown})


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the entries of a document; `root` is the path of the part that is read."""

    source: Source
    root: KeyPath
    mappings: Mappings | None

    def read_entry(self, key: str, value: Any) -> list[SlotStep]:
        if key == ".agent":
            return self._read_slots("agent", value if is_mapping(value) else {"system": value})
        if key == ".request":
            return self._read_slots("request", value if is_mapping(value) else {"input": value})
        if key.startswith("$") and not key.startswith("${"):
            return self._read_slots("agent", {key[1:]: value})
        return self._read_slots("request", {key: value})

    def read_aliases(self, calls: Any) -> list[AliasStep]:
        if not is_mapping(calls):
            problem = f".alias must map method names to their parameters, got {shorten(calls)}"
            raise self._make_error((".alias",), problem)
        return [self._read_alias(str(name), parameters) for name, parameters in calls.items()]

    def _read_slots(self, scope: Scope, data: Mapping[Any, Any]) -> list[SlotStep]:
        return [
            SlotStep(
                scope=scope,
                key=str(key),
                value=_READERS[key](value) if key in _READERS else value,
                mappings=self.mappings,
            )
            for key, value in data.items()
        ]

    def _read_alias(self, written: str, parameters: Any) -> AliasStep:
        name = fill_text(written, self.mappings or {})
        args: Any = []
        if is_mapping(parameters):
            own = parameters.get("mappings")
            args = self._fill(parameters.get(".args", args), own)
            given = self._fill(_without_args(parameters), own)
        else:
            given = self._fill(parameters)
        if given is not None and not is_mapping(given):
            problem = f"the parameters of .alias {name!r} must be a mapping, got {shorten(given)}"
            return AliasStep(name=name, problem=self._make_error((".alias", written), problem))
        if not is_list(args):
            problem = f"the .args of .alias {name!r} must be a list, got {shorten(args)}"
            path = (".alias", written, ".args")
            return AliasStep(name=name, problem=self._make_error(path, problem, PromptArgumentsError))
        kwargs = {str(key): value for key, value in (given or {}).items()}
        return AliasStep(name=name, args=tuple(args), kwargs=kwargs)

    def _fill(self, value: Any, own: Any = None) -> Any:
        """Return the value with its placeholders filled, except those that a call's own mappings fill."""
        if not self.mappings:
            return value
        if not is_mapping(own):
            return fill(value, self.mappings)
        return fill(value, {name: item for name, item in self.mappings.items() if name not in own})

    def _make_error(
        self, path: KeyPath, problem: str, kind: type[PromptSyntaxError] = PromptSyntaxError
    ) -> PromptSyntaxError:
        line, column = find_nearest(find_positions(self.source), (*self.root, *path)) or (None, None)
        return kind(problem, source=self.source.name, line=line, column=column, hint=_ALIAS_HINT)


def _without_args(parameters: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key: value for key, value in parameters.items() if key != ".args"}


def _find_part(document: Any, path: str) -> Any:
    """Return the value at a path; a key that equals the name literally is preferred."""
    part = document
    for name in path.split("."):
        if not is_mapping(part) or name not in part:
            return get_path(document, path)
        part = part[name]
    return part


def _find_defaults(about: Any) -> dict[str, Any]:
    """Return the defaults of the variables that `.about` describes; the prompt library checks their form."""
    described: Any = about.get("variables") if is_mapping(about) else None
    variables = described.items() if is_mapping(described) else ()
    return {
        str(name): each["default"]
        for name, each in variables
        if is_mapping(each) and each.get("default") is not None
    }


def _describe_unknown(key: str) -> str:
    hint = did_you_mean(key, _DIRECTIVES, most=1) or expected_one_of(_DIRECTIVES)
    return f"Unknown directive {key!r} is read as a slot of the request. {hint}"


def _make_type_error(source: Source, data: Any, path: str | None) -> PromptTypeError:
    where = f" at {path!r}" if path else ""
    hint = None
    if isinstance(data, str) and data == source.text.strip() and looks_like_path(data):
        hint = f"If {shorten(data)} is meant as a path: the file does not exist."
    message = f"{source.name}: a prompt configuration must be a mapping{where}, got {shorten(data)}"
    return PromptTypeError(message, hint=hint)
