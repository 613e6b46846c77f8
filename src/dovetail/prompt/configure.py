"""Prompt configurations (document 000, 4): YAML or JSON text in, steps for an agent's prompts out.

`.agent` and `$key` write to the agent's prompt, `.request` and every other key to the request's, `.alias`
calls methods of the agent. The steps keep the document's order; nothing here knows an agent.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, Literal

from dovetail.data.paths import get_path, split_path
from dovetail.data.placeholders import fill
from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import shorten
from dovetail.errors import PromptSyntaxError, PromptTypeError
from dovetail.prompt.positions import Path, find_nearest, find_positions
from dovetail.prompt.prompt import Prompt
from dovetail.prompt.schema_notation import read_output, read_tools
from dovetail.prompt.source import Source, read_source

Scope = Literal["agent", "request"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotStep:
    """Set a slot of the agent's or the request's prompt."""

    scope: Scope
    key: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasStep:
    """Call the agent's method of this name."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a configuration asks for, in the document's order."""

    steps: tuple[SlotStep | AliasStep, ...]

    @property
    def agent(self) -> dict[str, Any]:
        """The slots it gives to the agent's prompt."""
        return self._collect("agent")

    @property
    def request(self) -> dict[str, Any]:
        """The slots it gives to the request's prompt."""
        return self._collect("request")

    @property
    def aliases(self) -> tuple[AliasStep, ...]:
        """The methods it calls."""
        return tuple(step for step in self.steps if isinstance(step, AliasStep))

    def apply(self, agent: Prompt, request: Prompt, call: Callable[[AliasStep], object]) -> None:
        """Take every step: slots go to the two prompts, alias steps to `call`."""
        for step in self.steps:
            if isinstance(step, AliasStep):
                call(step)
            else:
                (agent if step.scope == "agent" else request).set(step.key, step.value)

    def _collect(self, scope: Scope) -> dict[str, Any]:
        prompt = Prompt()
        for step in self.steps:
            if isinstance(step, SlotStep) and step.scope == scope:
                prompt.set(step.key, step.value)
        return prompt.get()


def read_yaml_prompt(
    path_or_content: str | FilePath,
    mappings: Mapping[str, Any] | None = None,
    prompt_key_path: str | None = None,
) -> Configuration:
    """The configuration in a YAML file or text; `prompt_key_path` picks a part of the document."""
    return configure(read_source(path_or_content, "yaml"), mappings, prompt_key_path)


def read_json_prompt(
    path_or_content: str | FilePath,
    mappings: Mapping[str, Any] | None = None,
    prompt_key_path: str | None = None,
) -> Configuration:
    """The configuration in a JSON or JSON5 file or text; `prompt_key_path` picks a part of the document."""
    return configure(read_source(path_or_content, "json"), mappings, prompt_key_path)


def configure(
    source: Source, mappings: Mapping[str, Any] | None = None, prompt_key_path: str | None = None
) -> Configuration:
    """The steps of a configuration, with its placeholders filled."""
    document = source.parse()
    data = get_path(document, prompt_key_path) if prompt_key_path else document
    if not is_mapping(data):
        raise _make_type_error(source, data, prompt_key_path)
    if mappings:
        data = fill(data, mappings)
    root = tuple(split_path(prompt_key_path)) if prompt_key_path else ()
    steps: list[SlotStep | AliasStep] = []
    for key, value in data.items():
        steps += _read_aliases(value, source, root) if key == ".alias" else _read_entry(str(key), value)
    return Configuration(tuple(steps))


def _read_entry(key: str, value: Any) -> list[SlotStep]:
    if key == ".agent":
        return _read_slots("agent", value if is_mapping(value) else {"system": value})
    if key == ".request":
        return _read_slots("request", value if is_mapping(value) else {"input": value})
    if key.startswith("$") and not key.startswith("${"):
        return _read_slots("agent", {key[1:]: value})
    return _read_slots("request", {key: value})


def _read_slots(scope: Scope, data: Mapping[Any, Any]) -> list[SlotStep]:
    steps: list[SlotStep] = []
    for key, value in data.items():
        read = _READERS.get(str(key).partition(".")[0], _keep)
        steps.append(SlotStep(scope=scope, key=str(key), value=read(value)))
    return steps


def _read_aliases(calls: Any, source: Source, root: Path) -> list[AliasStep]:
    if not is_mapping(calls):
        raise _make_alias_error(
            source,
            (*root, ".alias"),
            f".alias must map method names to their parameters, got {shorten(calls)}",
        )
    return [_read_alias(str(name), parameters, source, root) for name, parameters in calls.items()]


def _read_alias(name: str, parameters: Any, source: Source, root: Path) -> AliasStep:
    if not is_mapping(parameters):
        problem = f"the parameters of .alias {name!r} must be a mapping, got {shorten(parameters)}"
        raise _make_alias_error(source, (*root, ".alias", name), problem)
    positional = parameters.get(".args", [])
    read = _READERS.get(name, _keep)
    args = tuple(read(value) for value in (positional if is_list(positional) else [positional]))
    kwargs = {str(key): read(value) for key, value in parameters.items() if key != ".args"}
    return AliasStep(name=name, args=args, kwargs=kwargs)


def _keep(value: Any) -> Any:
    return value


def _make_alias_error(source: Source, path: Path, problem: str) -> PromptSyntaxError:
    line, column = find_nearest(find_positions(source), path) or (None, None)
    hint = "write them by name, {instruct: {prompt: be brief}}, or in a list, {instruct: {.args: [be brief]}}"
    return PromptSyntaxError(problem, source=source.name, line=line, column=column, hint=hint)


def _make_type_error(source: Source, data: Any, path: str | None) -> PromptTypeError:
    where = f" at {path!r}" if path else ""
    hint = None
    if isinstance(data, str) and data == source.text.strip():
        hint = f"if {shorten(data)} was meant as a path: there is no such file"
    message = f"{source.name}: a prompt configuration must be a mapping{where}, got {shorten(data)}"
    return PromptTypeError(message, hint=hint)


_READERS: dict[str, Callable[[Any], Any]] = {"output": read_output, "tools": read_tools}
