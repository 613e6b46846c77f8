"""Write requests the way OpenAI-compatible servers take them."""

from collections.abc import Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.requesters.content import build_messages
from dovetail.requesters.openai.options import leave_out

NOTHING: Mapping[str, Any] = MappingProxyType({})

_NAMED_SCHEMAS = {"properties", "patternProperties", "$defs", "definitions"}
_NOT_SCHEMAS = {"properties", "enum", "const", "default", "examples", "required"}


def build_body(
    request: ModelRequest,
    *,
    extra: Mapping[str, Any],
    without: Set[str],
    messages: Sequence[Mapping[str, Any]] | None = None,
    thinking: Mapping[str, Any] = NOTHING,
) -> dict[str, Any]:
    """Return the JSON body; `extra` wins over everything else, `without` names options the server rejects.

    `messages` are those of the request in the shape of one server, `thinking` sets how long it thinks.
    """
    sent = build_messages(request.messages) if messages is None else messages
    body: dict[str, Any] = {"model": request.model, "messages": sent}
    if request.tools:
        body["tools"] = [build_tool(tool) for tool in request.tools]
        if request.tool_choice != "auto":
            body["tool_choice"] = request.tool_choice
    if request.schema is not None:
        body["response_format"] = _build_format(request.schema)
    if request.stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    return {**leave_out({**body, **thinking, **request.options}, without), **extra}


def build_tool(tool: ToolSpec) -> dict[str, Any]:
    """Return a tool in the shape that OpenAI-compatible servers and LangChain expect."""
    parameters = fill_items(tool.parameters)
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def fill_items(schema: Any) -> Any:
    """Return a schema in which every array has `items`, even if they are anything.

    OpenAI rejects the whole request if an array of one tool lacks them.
    """
    if is_list(schema):
        return [fill_items(item) for item in schema]
    if not is_mapping(schema):
        return schema
    filled = {name: _fill_part(name, part) for name, part in schema.items()}
    kind = schema.get("type")
    if (kind == "array" or (is_list(kind) and "array" in kind)) and "prefixItems" not in schema:
        filled.setdefault("items", {})
    return filled


def _fill_part(keyword: str, part: Any) -> Any:
    if keyword in _NAMED_SCHEMAS and is_mapping(part):
        return {name: fill_items(inner) for name, inner in part.items()}
    return part if keyword in _NOT_SCHEMAS else fill_items(part)


def _build_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    description: dict[str, Any] = {"name": "answer", "schema": schema}
    if is_closed(schema):
        description["strict"] = True
    return {"type": "json_schema", "json_schema": description}


def is_closed(schema: Any) -> bool:
    """Return whether every object of a schema requires all its properties and allows no others.

    Strict decoding accepts only such schemas; others are sent without `strict`.
    """
    if is_list(schema):
        return all(map(is_closed, schema))
    if not is_mapping(schema):
        return True
    return _closes_object(schema) and all(map(is_closed, _list_parts(schema)))


def _closes_object(schema: Mapping[str, Any]) -> bool:
    """Return whether an object's schema requires all properties and allows no others; else true."""
    if schema.get("type") != "object" and "properties" not in schema:
        return True
    required = set(schema.get("required", ()))
    return schema.get("additionalProperties") is False and set(schema.get("properties") or {}) == required


def _list_parts(schema: Mapping[str, Any]) -> list[Any]:
    """Return the parts of a schema that are schemas, or lists of them."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    return [*properties.values(), *(part for name, part in schema.items() if name not in _NOT_SCHEMAS)]
