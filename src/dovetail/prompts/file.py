"""A prompt file of the library: what it is called, which variables it has, and the text it makes of them.

`.about` holds its title, its description and what is known about its variables. A variable is a placeholder
`${name}` of the file: one without a default must get a value.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.template import find_placeholders
from dovetail.data.text import explain_unknown, shorten
from dovetail.errors import ConfigError, PromptError, PromptVariableError
from dovetail.prompt.configure import ABOUT
from dovetail.prompt.source import Source, guess_format, read_source
from dovetail.prompts.draft import Draft

_NAME = re.compile(r"\w[\w.-]*")
_ABOUT_KEYS = ("title", "description", "variables")
_VARIABLE_KEYS = ("description", "default", "choices")

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A placeholder of a prompt file; without a default a value is required."""

    name: str
    description: str = ""
    default: Scalar | None = None
    choices: tuple[Scalar, ...] = ()

    @property
    def is_required(self) -> bool:
        """Whether it needs a value."""
        return self.default is None

    @property
    def sample(self) -> Scalar:
        """A value that it may have."""
        return self.choices[0] if self.choices else "x" if self.default is None else self.default


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPrompt:
    """A prompt with its variables filled: as one text for a person, and as messages for a model."""

    text: str
    messages: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptFile:
    """A prompt of the library."""

    name: str
    title: str
    description: str
    variables: tuple[Variable, ...]
    path: Path
    source: Source

    def render(self, values: Mapping[str, Any]) -> RenderedPrompt:
        """Return the prompt with these values for its variables, otherwise their defaults.

        Raises:
            PromptVariableError: a value is missing, unknown, or none of the choices.
        """
        draft = Draft(self.source, self._fill_defaults(values))
        draft.check_aliases()
        messages = draft.prompt.to_messages()
        return RenderedPrompt(text=_to_text(draft, messages), messages=messages)

    def _fill_defaults(self, values: Mapping[str, Any]) -> dict[str, Any]:
        known = {variable.name: variable for variable in self.variables}
        for name, value in values.items():
            if name not in known:
                raise PromptVariableError(explain_unknown("variable", name, known))
            _check_choice(known[name], value)
        missing = [name for name, each in known.items() if each.is_required and _is_empty(values.get(name))]
        if missing:
            raise PromptVariableError(f"The prompt {self.name!r} needs a value for {', '.join(missing)}.")
        return {name: values.get(name, each.default) for name, each in known.items()}


def read_prompt_file(path: Path) -> PromptFile:
    """Read a prompt file and check that it can be rendered.

    Raises:
        ConfigError: the file is invalid; the message has the place, if it is known.
    """
    if not _NAME.fullmatch(path.stem):
        hint = "Use letters, digits, dots, hyphens and underscores."
        raise PromptError(f"{path.name!r} is not a name for a prompt file.", hint=hint)
    source = read_source(path, guess_format(path))
    document = source.parse()
    Draft(source, {}).check_aliases()  # also checks that the document is a mapping
    about = _read_about(document.get(ABOUT) or {})
    used = list(dict.fromkeys(_find_names({key: each for key, each in document.items() if key != ABOUT})))
    prompt = PromptFile(
        name=path.stem,
        title=_read_text(about, "title") or _to_title(path.stem),
        description=_read_text(about, "description"),
        variables=tuple(_read_variables(about.get("variables") or {}, used)),
        path=path,
        source=source,
    )
    prompt.render({each.name: each.sample for each in prompt.variables})
    return prompt


def find_samples(source: Source) -> dict[str, Any]:
    """Return a value for each variable that `.about` of a file describes; empty for other files.

    Raises:
        ConfigError: `.about` is invalid.
    """
    document = source.parse()
    if not is_mapping(document) or not document.get(ABOUT):
        return {}
    used = list(_find_names({key: each for key, each in document.items() if key != ABOUT}))
    described: Any = _read_about(document[ABOUT]).get("variables") or {}
    return {each.name: each.sample for each in _read_variables(described, used) if each.name in described}


def _to_text(draft: Draft, messages: list[dict[str, Any]]) -> str:
    """Return the contents of the messages; a conversation is written with its roles."""
    if any(message["role"] == "assistant" for message in messages):
        return draft.prompt.to_text()
    return "\n\n".join(str(message["content"]).strip() for message in messages)


def _read_about(value: Any) -> Mapping[str, Any]:
    if not is_mapping(value):
        raise PromptError(f"{ABOUT} must be a mapping, got {shorten(value)}.")
    for key in value:
        if key not in _ABOUT_KEYS:
            raise PromptError(f"{ABOUT}: {explain_unknown('key', key, _ABOUT_KEYS)}")
    return value


def _read_text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise PromptError(f"{ABOUT}: {key} must be text, got {shorten(value)}.")
    return " ".join((value or "").split())


def _read_variables(described: Any, used: list[str]) -> Iterator[Variable]:
    if not is_mapping(described):
        raise PromptError(f"{ABOUT}: variables must be a mapping of names, got {shorten(described)}.")
    for name in described:
        if name not in used:
            raise PromptError(f"{ABOUT}: {explain_unknown('variable', name, used)}")
    for name in dict.fromkeys((*described, *used)):
        yield _read_variable(name, described.get(name))


def _read_variable(name: str, value: Any) -> Variable:
    """Return a variable from its mapping, or from its description alone."""
    data = {"description": value} if isinstance(value, str) else value or {}
    if not is_mapping(data):
        raise PromptError(f"{ABOUT}: the variable {name!r} must be a mapping, got {shorten(value)}.")
    for key in data:
        if key not in _VARIABLE_KEYS:
            raise PromptError(
                f"{ABOUT}: {explain_unknown(f'key of the variable {name!r}', key, _VARIABLE_KEYS)}"
            )
    choices: Any = data.get("choices") or []
    default: Any = data.get("default")
    if not is_list(choices) or not all(isinstance(each, Scalar) for each in choices):
        raise PromptError(f"{ABOUT}: the choices of {name!r} must be a list of texts or numbers.")
    if default is not None and not isinstance(default, Scalar):
        raise PromptError(f"{ABOUT}: the default of {name!r} must be a text or a number.")
    variable = Variable(
        name=name, description=_read_text(data, "description"), default=default, choices=tuple(choices)
    )
    if default is not None:
        _check_choice(variable, default)
    return variable


def _check_choice(variable: Variable, value: Any) -> None:
    if variable.choices and value not in variable.choices:
        raise PromptVariableError(explain_unknown(f"choice for {variable.name}", value, variable.choices))


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _find_names(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from find_placeholders(value)
    elif is_mapping(value):
        for key, item in value.items():
            yield from _find_names(key)
            yield from _find_names(item)
    elif is_list(value):
        for item in value:
            yield from _find_names(item)


def _to_title(name: str) -> str:
    words = re.sub(r"[_-]+", " ", name).strip()
    return words[:1].upper() + words[1:]


def describe_failure(error: ConfigError) -> str:
    """Return the message of an error with its hint, in one text."""
    return error.message if error.hint is None else f"{error.message} {error.hint}"
