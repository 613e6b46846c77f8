"""Writes requests the way OpenAI-compatible servers take them."""

from collections.abc import Mapping, Set
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.requesters.content import build_messages
from dovetail.requesters.errors import Refusal


def build_body(request: ModelRequest, *, extra: Mapping[str, Any], without: Set[str]) -> dict[str, Any]:
    """The JSON body; `extra` goes over everything else, `without` names what this server has refused."""
    body: dict[str, Any] = {"model": request.model, "messages": build_messages(request.messages)}
    if request.tools:
        body["tools"] = [build_tool(tool) for tool in request.tools]
        if request.tool_choice != "auto":
            body["tool_choice"] = request.tool_choice
    if request.schema is not None and "response_format" not in without:
        body["response_format"] = _build_format(request.schema)
    if request.stream:
        body["stream"] = True
        if "stream_options" not in without:
            body["stream_options"] = {"include_usage": True}
    return {**body, **request.options, **extra}


def find_refused_part(refusal: Refusal, body: Mapping[str, Any]) -> str | None:
    """The part of a body that we added on our own and that the server does not know."""
    if refusal.status not in (400, 422):
        return None
    return next((name for name, words in _OPTIONAL.items() if name in body and refusal.mentions(words)), None)


_OPTIONAL = {
    "response_format": ("response_format", "json_schema"),
    "stream_options": ("stream_options", "include_usage"),
}


def build_tool(tool: ToolSpec) -> dict[str, Any]:
    """A tool as OpenAI's clients and LangChain's models take it."""
    parameters = _fill_items(tool.parameters)
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _fill_items(schema: Any) -> Any:
    """A schema in which every array says what its items are, even if that is anything.

    OpenAI refuses a whole request when the array of one tool does not.
    """
    if is_list(schema):
        return [_fill_items(item) for item in schema]
    if not is_mapping(schema):
        return schema
    filled = {name: _fill_part(name, part) for name, part in schema.items()}
    kind = schema.get("type")
    if (kind == "array" or (is_list(kind) and "array" in kind)) and "prefixItems" not in schema:
        filled.setdefault("items", {})
    return filled


def _fill_part(keyword: str, part: Any) -> Any:
    if keyword in _NAMED_SCHEMAS and is_mapping(part):
        return {name: _fill_items(inner) for name, inner in part.items()}
    return part if keyword in _NOT_SCHEMAS else _fill_items(part)


_NAMED_SCHEMAS = {"properties", "patternProperties", "$defs", "definitions"}


def _build_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    description: dict[str, Any] = {"name": "answer", "schema": schema}
    if is_closed(schema):
        description["strict"] = True
    return {"type": "json_schema", "json_schema": description}


def is_closed(schema: Any) -> bool:
    """Whether every object of a schema names all its properties, requires them and allows no others.

    Strict decoding takes only such schemas; for others the server is asked without `strict`.
    """
    if is_list(schema):
        return all(is_closed(item) for item in schema)
    if not is_mapping(schema):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties: Mapping[str, Any] = schema.get("properties") or {}
        if schema.get("additionalProperties") is not False or set(properties) != set(
            schema.get("required", ())
        ):
            return False
        if not all(is_closed(value) for value in properties.values()):
            return False
    return all(is_closed(value) for name, value in schema.items() if name not in _NOT_SCHEMAS)


_NOT_SCHEMAS = {"properties", "enum", "const", "default", "examples", "required"}
