"""Functions as schemas: the JSON Schema of a function's parameters, and how to call it with arguments."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, get_type_hints

from dovetail.data.shapes import is_number
from dovetail.errors import ConfigError, ToolError
from dovetail.events.tool_context import ToolContext
from dovetail.lazy import lazy
from dovetail.schema.from_annotation import read_plain_annotation, remove_titles, split_annotated
from dovetail.schema.hints import read_hint

if TYPE_CHECKING:
    from dovetail.schema.number_types import Convert

pydantic = lazy("pydantic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The schema of a function's parameters, and how arguments become a call.

    `converters` convert the values of parameters that are not plain JSON types; `type_numbers` converts the
    numbers of the others to the types in the schema.
    """

    schema: dict[str, Any]
    converters: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict[str, Callable[[Any], Any]])
    type_numbers: "Convert | None" = None
    context_name: str | None = None
    positional: tuple[str, ...] = ()
    returns: Any = None

    def bind(
        self, function: Callable[..., Any], args: dict[str, Any], context: ToolContext
    ) -> Callable[[], Any]:
        """Return the call of `function` with these arguments, ready to be made."""
        keywords = dict(args) if self.type_numbers is None else self.type_numbers(args)
        if self.converters:
            keywords = self._convert(keywords)
        if self.context_name is not None:
            keywords[self.context_name] = context
        values = [keywords.pop(name) for name in self.positional if name in keywords]
        return lambda: function(*values, **keywords)

    def _convert(self, args: dict[str, Any]) -> dict[str, Any]:
        try:
            return {
                name: self.converters[name](value) if name in self.converters and value is not None else value
                for name, value in args.items()
            }
        except pydantic.ValidationError as error:
            raise ToolError(f"Invalid arguments: {_describe(error)}", type="invalid_tool_params") from error


def read_signature(
    function: Callable[..., Any], texts: Mapping[str, str], *, is_described: bool = False
) -> Signature:
    """Read the parameters of a function; `texts` are their descriptions from the docstring.

    If the function `is_described` by its own schema, only the names count: annotations that cannot be read
    and `*args` are ignored, and a callable without a signature accepts any arguments.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        if is_described:
            return Signature(schema={"type": "object", "properties": {}, "additionalProperties": True})
        raise ConfigError(
            f"Cannot read the signature of {function!r}.",
            hint="Wrap it in a function of your own.",
        ) from error
    if parameters and not is_described:
        _refuse_unbound(function, parameters[0].name)
    reader = _Reader(function, texts, is_described=is_described)
    for parameter in parameters:
        reader.read(parameter)
    return reader.finish()


def _refuse_unbound(function: Callable[..., Any], first: str) -> None:
    """Reject an unbound method: a model cannot supply its object."""
    name = getattr(function, "__qualname__", "")
    owner, _, method = name.rpartition("<locals>.")[2].rpartition(".")
    if owner and first in ("self", "cls"):
        hint = f"Pass that of an object: agent.use_tools(my_{owner.lower()}.{method})."
        raise ConfigError(f"{name} is a method without its object, so a model cannot call it.", hint=hint)


class _Reader:
    """Reads one function, parameter after parameter."""

    def __init__(self, function: Callable[..., Any], texts: Mapping[str, str], *, is_described: bool) -> None:
        self._name = getattr(function, "__qualname__", repr(function))
        self._is_described = is_described
        self._hints = _read_known_hints(function) if is_described else _read_hints(function, self._name)
        self._texts = texts
        self._properties: dict[str, Any] = {}
        self._required: list[str] = []
        self._rich: dict[str, Any] = {}
        self._takes_any = False
        self._context_name: str | None = None
        self._positional: list[str] = []

    def read(self, parameter: inspect.Parameter) -> None:
        name = parameter.name
        annotation, text = split_annotated(self._hints.get(name, Any))
        if annotation is ToolContext:
            self._context_name = name
        elif parameter.kind is parameter.VAR_POSITIONAL:
            if self._is_described:
                return
            raise ConfigError(f"{self._name} takes *{name}: the arguments of a tool must have names.")
        elif parameter.kind is parameter.VAR_KEYWORD:
            self._takes_any = True
        else:
            self._properties[name] = self._make_property(name, annotation, text, parameter.default)
            if parameter.default is parameter.empty:
                self._required.append(name)
        if parameter.kind is parameter.POSITIONAL_ONLY:
            self._positional.append(name)

    def _make_property(self, name: str, annotation: Any, text: str, default: Any) -> dict[str, Any]:
        schema = read_plain_annotation(annotation)
        if schema is None:
            schema = {}
            if (adapter := self._make_adapter(name, annotation)) is not None:
                self._rich[name] = adapter
        if text := text or self._texts.get(name, ""):
            schema["description"] = text
        default = default.value if isinstance(default, Enum) else default
        if isinstance(default, str | bool) or is_number(default):
            schema["default"] = default
        return schema

    def _make_adapter(self, name: str, annotation: Any) -> Any:
        """Return the converter of a parameter's values, if any; raise if one is needed and missing."""
        try:
            adapter = pydantic.TypeAdapter(annotation)
            adapter.json_schema()
            return adapter
        except pydantic.PydanticUserError as error:
            if self._is_described:
                return None
            raise ConfigError(
                f"Parameter {name!r} of {self._name} is annotated {annotation!r}, which has no JSON Schema."
            ) from error

    def finish(self) -> Signature:
        schema: dict[str, Any] = {"type": "object", "properties": self._properties}
        if self._rich:
            self._add_rich(schema)
        if self._required:
            schema["required"] = self._required
        schema["additionalProperties"] = self._takes_any
        return Signature(
            schema=schema,
            converters={name: adapter.validate_python for name, adapter in self._rich.items()},
            context_name=self._context_name,
            positional=tuple(self._positional),
            returns=self._hints.get("return"),
        )

    def _add_rich(self, schema: dict[str, Any]) -> None:
        """Add the schemas that pydantic makes, with their definitions under the root."""
        inputs = [(name, "validation", adapter) for name, adapter in self._rich.items()]
        schemas, definitions = pydantic.TypeAdapter.json_schemas(inputs)
        for (name, _), made in schemas.items():
            self._properties[name] = {**remove_titles(made), **self._properties[name]}
        if definitions:
            schema.update(remove_titles(definitions))


def _read_hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    annotated = _find_annotated(function)
    try:
        return get_type_hints(annotated, include_extras=True)
    except Exception as error:  # an annotation may be any text
        if not getattr(annotated, "__annotations__", None):
            return {}  # a builtin: nothing to read
        raise ConfigError(f"The annotations of {name} cannot be read: {error}") from error


def _read_known_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations that can be read."""
    annotated = _find_annotated(function)
    hints: dict[str, Any] = {}
    for name, annotation in getattr(annotated, "__annotations__", {}).items():
        with suppress(Exception):
            hints[name] = read_hint(annotation, getattr(annotated, "__globals__", {}))
    return hints


def _find_annotated(function: Any) -> Any:
    """Return the function that carries a callable's annotations: behind a partial, a class or an object."""
    if isinstance(function, partial):
        return _find_annotated(function.func)
    if inspect.isclass(function):
        return function.__init__
    return inspect.unwrap(function) if hasattr(function, "__annotations__") else type(function).__call__


def _describe(error: Any) -> str:
    return "; ".join(
        f"{'.'.join(str(step) for step in problem['loc'])}: {problem['msg']}".removeprefix(": ")
        for problem in error.errors(include_url=False)
    )
