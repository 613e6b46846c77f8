"""What a request expects: how its answer is parsed, checked and, if the model supports it, constrained."""

import sys
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar, cast, get_args, get_origin

from dovetail.data.paths import PathStyle, split_path
from dovetail.data.shapes import is_list, is_mapping, is_sequence, is_tuple
from dovetail.data.text import did_you_mean, expected_one_of, shorten
from dovetail.errors import ConfigError, KeyWaitError
from dovetail.lazy import lazy
from dovetail.prompt.prompt import Prompt
from dovetail.prompt.slots import read_output
from dovetail.response.bare import read_bare
from dovetail.response.parser import AnswerFormat
from dovetail.schema.described import describe_field
from dovetail.schema.from_annotation import read_fields, remove_titles, split_annotated
from dovetail.schema.notation import write_notation
from dovetail.settings import Settings
from dovetail.settings.sections import ResponseSettings

_extensions = lazy("typing_extensions")
_pydantic = lazy("pydantic")

T = TypeVar("T")

_CONTAINERS: frozenset[Any] = frozenset({list, dict, tuple, set})
_CLOSED = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class Expectation(Generic[T]):
    """The format of the answer and the JSON Schema that says the same."""

    format: AnswerFormat[T]
    schema: Mapping[str, Any] | None = None


def expect_output(prompt: Prompt, settings: Settings, *, with_schema: bool) -> Expectation[Any]:
    """Return what the prompt's output slot asks for."""
    output, output_format = read_output(prompt.get("output"), prompt.get("output_format"))
    if output_format != "json" or not (is_mapping(output) or is_list(output)):
        return Expectation(AnswerFormat())
    schema = write_notation(output) if with_schema else None
    return Expectation(
        AnswerFormat(schema=output, path_style=get_style(settings), build=_Builder(prompt)), schema
    )


def get_style(settings: Settings) -> PathStyle:
    """Return the path style of the settings."""
    return settings.section(ResponseSettings).streaming_parse_path_style


class _Builder:
    """Build the prompt's output model at its first use, because it needs pydantic."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self._model: Any = None

    def __call__(self, data: Any) -> Any:
        if self._model is None:
            self._model = self._prompt.to_output_model()
        return self._model.model_validate({"list": data} if is_list(data) else data)


class TypedOutput(Generic[T]):
    """A type as the whole answer: its description in the prompt, and how an answer becomes an instance.

    A class with fields is asked for by its own fields, a list by that of its items, and every other type as
    the field `value`, where an answer may also be nothing but the value; `str` is plain text. `shown` is what
    the prompt says: classes at every depth by their fields, also where a union or a mapping only names them.
    """

    def __init__(self, kind: Any) -> None:
        is_instance = not isinstance(kind, type) and read_fields(type(kind)) is not None
        if is_instance or isinstance(kind, str) or is_mapping(kind) or is_sequence(kind):
            raise ConfigError(
                f"A typed answer needs a type, got {shorten(kind)}.",
                hint="Pass the class itself. For an output schema, use agent.output(...).start().",
            )
        self.kind = kind
        plain, note = split_annotated(kind)
        if getattr(plain, "__pydantic_root_model__", False):  # a class around another type
            plain = plain.__pydantic_fields__["root"].annotation
        self.output = _describe(plain, note or _read_description(plain))
        self.shown: Any = _show(self.output)
        self._is_wrapped = is_mapping(self.output) and read_fields(plain) is None
        try:
            self._adapter = _pydantic.TypeAdapter(_adapt_typed_dicts(kind))
        except _pydantic.errors.PydanticUserError as error:
            raise ConfigError(
                f"Cannot convert an answer to {kind!r}.",
                hint="Ask for a pydantic model, a dataclass, a TypedDict or a type made of plain ones.",
            ) from error

    def expect(self, settings: Settings, *, with_schema: bool) -> Expectation[T]:
        """Return what a request for this type expects."""
        if self.output is None:
            return Expectation(AnswerFormat(build=self._adapter.validate_python, is_typed=True))
        format = AnswerFormat(
            schema=self.output,
            path_style=get_style(settings),
            build=self.build,
            read_bare=self._read_bare if self._is_wrapped else None,
            is_typed=True,
        )
        return Expectation(format, self._wrap_schema() if with_schema else None)

    def build(self, data: Any) -> T:
        """Return the instance that the data of an answer describes.

        Raises:
            ValueError: it describes none.
        """
        if self._is_wrapped and is_mapping(data) and "value" in data:
            data = data["value"]  # models sometimes omit the field and send the value itself
        return self._adapter.validate_python(data)

    def dump(self, value: T) -> Any:
        """Return an instance as JSON data."""
        return self._adapter.dump_python(value, mode="json")

    def write_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the type."""
        return remove_titles(self._adapter.json_schema())

    def _read_bare(self, text: str) -> Any:
        return read_bare(text, self._accepts)

    def _accepts(self, value: Any) -> bool:
        try:
            self._adapter.validate_python(value)
        except (ValueError, TypeError):
            return False
        return True

    def _wrap_schema(self) -> dict[str, Any]:
        schema = self.write_schema()
        if not self._is_wrapped:
            return schema
        definitions = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
        wrapped = {"type": "object", "properties": {"value": schema}, "required": ["value"]}
        return {**wrapped, "additionalProperties": False, **definitions}


def expect_type(kind: Any) -> TypedOutput[Any] | None:
    """Return what an answer of this type is expected to be; None for no type."""
    if kind is None or isinstance(kind, TypedOutput):
        return cast("TypedOutput[Any] | None", kind)
    return TypedOutput(kind)


def _read_description(kind: Any) -> str:
    """Return the description of `Annotated[int, Field(description="…")]`."""
    notes = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    return next((text for note in notes if (text := getattr(note, "description", None))), "")


def _show(schema: Any) -> Any:
    if is_mapping(schema):
        return {name: _show(field) for name, field in schema.items()}
    if is_list(schema):
        return [_show(item) for item in schema]
    if is_tuple(schema):
        return describe_field(*schema)
    return schema


def _describe(kind: Any, note: str) -> Any:
    if kind is str:
        return None
    fields = read_fields(kind)
    if fields is not None:
        return fields
    if get_origin(kind) is list:
        item = get_args(kind)[0]
        item_fields = read_fields(item)
        return [(item,) if item_fields is None else item_fields]
    return {"value": (kind, note) if note else (kind,)}


def _adapt_typed_dicts(kind: Any) -> Any:
    """Return the type with its typed dicts in the form that pydantic supports."""
    if sys.version_info >= (3, 12):
        return kind
    if typing.is_typeddict(kind) and type(kind).__module__ == "typing":
        hints = typing.get_type_hints(kind, include_extras=True)
        fields = {name: _adapt_typed_dicts(hint) for name, hint in hints.items()}
        return _extensions.TypedDict(kind.__name__, fields, total=kind.__total__)
    origin: Any = get_origin(kind)
    arguments = get_args(kind)
    adapted = tuple(_adapt_typed_dicts(argument) for argument in arguments)
    return origin[adapted] if origin in _CONTAINERS and adapted != arguments else kind


def require_keys(output: Any, keys: Iterable[str]) -> None:
    """Raise for keys that are not in the output schema."""
    for key in keys:
        if not _leads_somewhere(output, split_path(key)):
            known = list(list_paths(output))
            raise KeyWaitError(
                f"The output has no key {key!r}. {expected_one_of(known)}",
                hint=did_you_mean(key, known) or None,
            )


def list_paths(schema: Any, path: str = "") -> Iterator[str]:
    """Return every path of a schema, in its order."""
    schema = _open(schema)
    if is_mapping(schema):
        for name, field in schema.items():
            inner = f"{path}.{name}" if path else str(name)
            yield inner
            yield from list_paths(field, inner)
    elif is_list(schema):
        inner = f"{path}[*]"
        yield inner
        for item in schema[:1]:
            yield from list_paths(item, inner)


def _leads_somewhere(schema: Any, steps: list[str | int]) -> bool:
    for step in steps:
        schema = _open(schema)
        if is_mapping(schema):
            if step not in schema:
                return False
            schema = schema[str(step)]
        elif is_list(schema):
            if step != "*" and not isinstance(step, int):
                return False
            schema = schema[0] if schema else Any
        else:
            return schema not in _CLOSED
    return True


def _open(schema: Any) -> Any:
    """Return the content of a field's tuple or of a type: fields, a list of them, or the type itself."""
    if is_tuple(schema):
        schema = schema[0] if schema else Any
    if get_origin(schema) is list and get_args(schema):
        return [get_args(schema)[0]]
    return read_fields(schema) or schema
