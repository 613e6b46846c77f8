"""An output schema as a pydantic model that checks and casts a model's answer (rule P180)."""

import dataclasses
import functools
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Optional, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_core import core_schema

from dovetail.data.sanitize import sanitize
from dovetail.data.shapes import is_class, is_dict, is_list, is_mapping, is_tuple
from dovetail.errors import PromptTypeError
from dovetail.schema.from_annotation import is_annotation

_FALSE = frozenset({"false", "0", "no", "off", "n", "f", ""})
_TRUE = frozenset({"true", "1", "yes", "on", "y", "t"})


def make_list_caster(item_type: Any) -> Callable[[Any], list[Any]]:
    """Return a function that makes a list of any value and casts its items to `item_type`, if a class."""
    cast = _make_item_caster(item_type)

    def cast_list(value: Any) -> list[Any]:
        items = value if is_list(value) else [value]
        return [_cast_item(cast, item, position) for position, item in enumerate(items)] if cast else items

    return cast_list


def _cast_item(cast: Callable[[Any], Any], item: Any, position: int) -> Any:
    try:
        return cast(item)
    except (TypeError, ValueError) as error:
        raise ValueError(f"item {position}: {item!r} does not fit: {error}") from error


def _make_item_caster(item_type: Any) -> Callable[[Any], Any] | None:
    if not is_class(item_type):
        return None
    validate: Any = getattr(item_type, "model_validate", None) or getattr(item_type, "parse_obj", None)

    def cast(item: Any) -> Any:
        if isinstance(item, item_type):
            return item
        if is_mapping(item) and validate is not None:
            return validate(item)
        return item_type(item)

    return to_bool if item_type is bool else cast


def to_bool(value: Any) -> bool:
    """Return the boolean for "false", "no", "0" and their opposites."""
    if not isinstance(value, str):
        return bool(value)
    word = value.strip().lower()
    if word in _FALSE:
        return False
    if word in _TRUE:
        return True
    raise ValueError(f"{value!r} is neither true nor false")


ROOT = "AgentlyOutput"
KEPT_MODELS = 128
_CONFIG = ConfigDict(
    extra="allow", arbitrary_types_allowed=True, protected_namespaces=(), serialize_by_alias=True
)
_FieldSpec = tuple[Any, dict[str, Any]]
"""The annotation of a field and the arguments of its `Field`."""

_shadowing = threading.Lock()


def build_output_model(schema: Any) -> type[BaseModel]:
    """Return the model of a schema: every field is optional, extra fields are kept.

    Equal schemas share one model: making one costs more than validating many answers.
    """
    try:
        return _build_once(_Schema(_freeze(schema), schema))
    except TypeError as error:
        if isinstance(error, PromptTypeError):
            raise
        return _build(schema)  # something in the schema cannot be hashed


@dataclass(frozen=True, slots=True)
class _Schema:
    """Return a hashable key for a schema, by the form of its parts."""

    form: Any
    schema: Any = dataclasses.field(compare=False)


@functools.lru_cache(maxsize=KEPT_MODELS)
def _build_once(schema: _Schema) -> type[BaseModel]:
    return _build(schema.schema)


def _freeze(schema: Any) -> Any:
    if is_mapping(schema):
        return dict, tuple((key, _freeze(item)) for key, item in schema.items())
    if is_tuple(schema) or is_list(schema):
        return type(schema), tuple(_freeze(item) for item in schema)
    return type(schema), schema


def _build(schema: Any) -> type[BaseModel]:
    if is_mapping(schema):
        return _build_model(ROOT, schema)
    if isinstance(schema, Sequence) and not isinstance(schema, str):
        return _build_model(ROOT, {"list": schema})
    raise PromptTypeError(
        f"an output model needs a schema that is a mapping or a list, got {schema!r}",
        hint="set the prompt's `output`, for example {'answer': (str, 'what to say')}",
    )


def _build_model(name: str, schema: Mapping[Any, Any]) -> type[BaseModel]:
    return _create(
        name,
        {str(key): _read_field(item, f"{name}_{str(key).capitalize()}") for key, item in schema.items()},
    )


def _read_field(schema: Any, name: str) -> _FieldSpec:
    """Return the field of a schema; `name` is for nested models."""
    if isinstance(schema, str):
        return Any, {"description": schema}
    if is_dict(schema):
        return _build_model(name, schema), {}
    if is_tuple(schema):
        return _read_tuple(*schema[:3])
    if is_list(schema):
        return _read_list(schema, name), {}
    if is_annotation(schema):
        return Optional[schema], {}  # noqa: UP045 (the schema is a value)
    return Any, {"description": str(sanitize(schema, remain_type=True))}


def _read_tuple(kind: Any = Any, description: Any = "", default: Any = None) -> _FieldSpec:
    default = sanitize(default, remain_type=True)
    if not is_annotation(kind):
        shown, said = sanitize((kind, description), remain_type=True)
        return Any, {"description": f"type: {shown}; desc: {said}", "default": default}
    if get_origin(kind) is list:
        kind = _wrap_list(kind, *get_args(kind))
    return kind, {"description": sanitize(description), "default": default}


def _read_list(schema: Sequence[Any], name: str) -> Any:
    item_type = _read_item_type(schema[0], f"{name}_List") if schema else Any
    return _wrap_list(Optional[list[Optional[item_type]]], item_type)  # noqa: UP045 (made from values)


def _read_item_type(item: Any, name: str) -> Any:
    """Return the type of a list's items."""
    if is_dict(item):
        return _build_model(name, item)
    if is_tuple(item):
        item = item[0] if item else Any
    elif is_list(item):
        return _read_list(item, name)
    return item if is_annotation(item) else Any


def _wrap_list(annotation: Any, item_type: Any = Any) -> Any:
    return Annotated[annotation, _CastList(make_list_caster(item_type))]


@dataclass(frozen=True, slots=True)
class _CastList:
    """Validates by casting only, and serializes the actual value, whatever the annotation says."""

    cast: Callable[[Any], list[Any]]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(self.cast, core_schema.any_schema())


def _create(name: str, fields: Mapping[str, _FieldSpec]) -> type[BaseModel]:
    definitions: dict[str, Any] = {}
    for key, (annotation, arguments) in fields.items():
        if _is_reserved(key):
            free = _free_name(key, {**fields, **definitions})
            definitions[free] = (annotation, Field(**_complete(arguments), alias=key))
        else:
            definitions[key] = (annotation, Field(**_complete(arguments)))
    if not any(hasattr(BaseModel, key) for key in definitions):
        return create_model(name, __config__=_CONFIG, **definitions)
    with _shadowing, warnings.catch_warnings():
        # An answer may well have a field `json` or `copy`; that it hides an old method harms nobody.
        warnings.simplefilter("ignore", UserWarning)
        return create_model(name, __config__=_CONFIG, **definitions)


def _complete(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"default": None, "description": None, **arguments}


def _is_reserved(key: str) -> bool:
    """Return whether pydantic rejects the name, or a model with it would not work."""
    return key.startswith("_") or (key.startswith("model_") and hasattr(BaseModel, key))


def _free_name(key: str, taken: Mapping[str, Any]) -> str:
    name = f"field_{key.strip('_')}"
    while name in taken:
        name += "_"
    return name
