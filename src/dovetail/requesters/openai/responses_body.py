"""Write requests for the Responses API; options with the names of chat completions are translated."""

from collections.abc import Mapping, Set
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.openai.body import fill_items, is_closed
from dovetail.requesters.openai.options import leave_out
from dovetail.requesters.openai.responses_input import build_input
from dovetail.requesters.openai.thinking import is_reasoning_model, name_effort

ENCRYPTED = "reasoning.encrypted_content"
_LENGTHS = ("max_tokens", "max_completion_tokens")
_JOINED = ("tools", "include")
_MERGED = ("reasoning", "text")


def build_body(request: ModelRequest, endpoint: Endpoint, without: Set[str], source: str) -> dict[str, Any]:
    """Return the JSON body: ours, the options over it, and `endpoint.body` over everything else.

    Tools of the options, such as `{"type": "web_search"}`, are added to ours.
    """
    options = translate_options(request.options)
    known = endpoint.find_model(request.model)
    is_stored = bool(endpoint.body.get("store", options.get("store", False)))
    body: dict[str, Any] = {
        "model": request.model,
        "input": build_input(request.messages, source, is_stored=is_stored),
        "store": False,
    }
    if request.stream:
        body["stream"] = True
    if request.tools:
        body["tools"] = [build_tool(tool, strict="strict" not in without) for tool in request.tools]
        if request.tool_choice != "auto":
            body["tool_choice"] = request.tool_choice
    if request.schema is not None and "response_format" not in without:
        body["text"] = {"format": _build_format(request.schema)}
    if is_reasoning_model(known) and "encrypted_content" not in without:
        body["include"] = [ENCRYPTED]
    if request.thinking is not None:
        body["reasoning"] = _build_reasoning(request.thinking, known)
    return {**leave_out(_merge(body, options), without), **endpoint.body}


def build_tool(tool: ToolSpec, *, strict: bool) -> dict[str, Any]:
    """Return a tool; servers take a missing `strict` for true, so it is always there."""
    parameters = fill_items(tool.parameters)
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters,
        "strict": strict and is_closed(parameters),
    }


def translate_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options under the names of the Responses API; others are kept."""
    named = dict(options)
    for name in _LENGTHS:
        if name in named:
            named.setdefault("max_output_tokens", named.pop(name))
    if "reasoning_effort" in named:
        named["reasoning"] = {"effort": named.pop("reasoning_effort"), **named.get("reasoning", {})}
    text: dict[str, Any] = {}
    if "verbosity" in named:
        text["verbosity"] = named.pop("verbosity")
    if is_mapping(form := named.pop("response_format", None)):
        text["format"] = _flatten_format(form)
    if text:
        named["text"] = {**text, **named.get("text", {})}
    return named


def _flatten_format(form: Mapping[str, Any]) -> dict[str, Any]:
    schema = form.get("json_schema")
    return {"type": form.get("type"), **schema} if is_mapping(schema) else dict(form)


def _build_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "name": "answer", "schema": schema, "strict": is_closed(schema)}


def _build_reasoning(thinking: str | int, model: str) -> dict[str, Any]:
    summary = {} if thinking == "off" else {"summary": "auto"}
    return {"effort": name_effort(thinking, model), **summary}


def _merge(body: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**body, **options}
    for name in _JOINED:
        ours, given = body.get(name), options.get(name)
        if is_list(ours) and is_list(given):
            merged[name] = [*ours, *(part for part in given if part not in ours)]
    for name in _MERGED:
        ours, given = body.get(name), options.get(name)
        if is_mapping(ours) and is_mapping(given):
            merged[name] = {**ours, **given}
    return merged
