"""Prompt configurations (document 000, 4): YAML or JSON text in, steps for an agent's prompts out.

`.agent` and `$key` write to the agent's prompt, `.request` and every other key to the request's, `.alias`
calls methods of the agent. The steps keep the document's order; nothing here knows an agent.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dovetail.data.paths import get_path
from dovetail.data.placeholders import fill
from dovetail.data.shapes import is_list, is_mapping
from dovetail.errors import PromptError, PromptTypeError
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
    path_or_content: str | Path,
    mappings: Mapping[str, Any] | None = None,
    prompt_key_path: str | None = None,
) -> Configuration:
    """The configuration in a YAML file or text; `prompt_key_path` picks a part of the document."""
    return configure(read_source(path_or_content, "yaml"), mappings, prompt_key_path)


def read_json_prompt(
    path_or_content: str | Path,
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
    steps = [step for key, value in data.items() for step in _read_entry(str(key), value, source)]
    return Configuration(tuple(steps))


def _read_entry(key: str, value: Any, source: Source) -> Iterator[SlotStep | AliasStep]:
    if key == ".alias":
        yield from _read_aliases(value, source)
    elif key == ".agent":
        yield from _read_slots("agent", value if is_mapping(value) else {"system": value})
    elif key == ".request":
        yield from _read_slots("request", value if is_mapping(value) else {"input": value})
    elif key.startswith("$") and not key.startswith("${"):
        yield from _read_slots("agent", {key[1:]: value})
    else:
        yield from _read_slots("request", {key: value})


def _read_slots(scope: Scope, data: Mapping[Any, Any]) -> Iterator[SlotStep]:
    for key, value in data.items():
        read = _READERS.get(str(key).partition(".")[0])
        yield SlotStep(scope=scope, key=str(key), value=read(value) if read else value)


def _read_aliases(calls: Any, source: Source) -> Iterator[AliasStep]:
    if not is_mapping(calls):
        raise PromptError(
            f"{source.name}: .alias must map method names to their parameters, got {calls!r}",
            hint="for example: .alias: {instruct: {prompt: be brief, always: true}}",
        )
    for name, parameters in calls.items():
        yield _read_alias(str(name), parameters, source)


def _read_alias(name: str, parameters: Any, source: Source) -> AliasStep:
    if not is_mapping(parameters):
        raise PromptError(
            f"{source.name}: the parameters of .alias {name!r} must be a mapping, got {parameters!r}",
            hint=f"write them by name, or as a list under .args: {name}: {{.args: [{parameters!r}]}}",
        )
    positional = parameters.get(".args", [])
    read = _READERS.get(name, lambda value: value)
    args = tuple(read(value) for value in (positional if is_list(positional) else [positional]))
    kwargs = {str(key): read(value) for key, value in parameters.items() if key != ".args"}
    return AliasStep(name=name, args=args, kwargs=kwargs)


def _make_type_error(source: Source, data: Any, path: str | None) -> PromptTypeError:
    where = f" at {path!r}" if path else ""
    hint = None
    if isinstance(data, str) and data == source.text.strip():
        hint = f"if {data!r} was meant as a path: there is no such file"
    return PromptTypeError(
        f"{source.name}: a prompt configuration must be a mapping{where}, got {data!r}", hint=hint
    )


_READERS: dict[str, Callable[[Any], Any]] = {"output": read_output, "tools": read_tools}
