"""Write requests the way the Converse API takes them."""

import json
from collections.abc import Mapping, Sequence, Set
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.requesters.anthropic.caching import SHORTEST, measure
from dovetail.requesters.anthropic.schema import limit_schema, write_parameters
from dovetail.requesters.bedrock.family import Family, find_family
from dovetail.requesters.bedrock.messages import ConverseWriter
from dovetail.requesters.bedrock.thinking import plan_thinking
from dovetail.requesters.blocks import FORGOTTEN
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.options import translate_options
from dovetail.requesters.refusal import Refusal

SIGNED = "thinking blocks"
"""The optional part that stands for earlier reasoning; Claude rejects what another account has signed."""

_TOP_LEVEL = {
    "additionalModelResponseFieldPaths",
    "guardrailConfig",
    "outputConfig",
    "performanceConfig",
    "promptVariables",
    "requestMetadata",
    "serviceTier",
}
_INFERENCE = {
    "max_tokens": "maxTokens",
    "max_completion_tokens": "maxTokens",
    "max_output_tokens": "maxTokens",
    "temperature": "temperature",
    "top_p": "topP",
    "stop": "stopSequences",
    "stop_sequences": "stopSequences",
}
_OPTIONAL = {
    SIGNED: ("Invalid `signature`", "blocks in the latest assistant message cannot be modified"),
    "response_format": ("outputConfig", "structured output", "output_config.format", "json_schema"),
    "tool_choice": ("toolChoice", "tool_choice"),
    "cache": ("cachePoint", "prompt caching", "cache_control"),
    "temperature": ("temperature",),
    "top_p": ("topP", "top_p"),
    "thinking": ("thinking", "reasoning", "effort"),
}
"""Parts of a body that can be left out, and the words by which the API refuses them."""


def build_body(request: ModelRequest, endpoint: Endpoint, source: str, without: Set[str]) -> dict[str, Any]:
    """Return the JSON body; `endpoint.body` wins over everything else."""
    request = translate_options(request, known=frozenset())
    family = find_family(request.model)
    conversation = ConverseWriter(source, thinks=SIGNED not in without).write(request.messages)
    options = {name: value for name, value in request.options.items() if name not in without}
    level = None if "thinking" in without else request.thinking
    thinking = plan_thinking(request.model, level, can_begin=not conversation.lacks_thinking)
    inference = _read_inference(options)
    thinking.fit(request.model, inference)
    body: dict[str, Any] = {"messages": conversation.messages}
    if conversation.system:
        body["system"] = conversation.system
    can_force = not thinking.is_on and "tool_choice" not in without
    _add_tools(body, request, conversation.called_tools, can_force=can_force)
    if "cache" not in without and endpoint.cache != "off":
        _mark_prefixes(body, family, endpoint.cache)
    if inference:
        body["inferenceConfig"] = inference
    output = _write_output(request, thinking.effort, without)
    own = {name: options.pop(name) for name in [*options] if name in _TOP_LEVEL}
    given = options.pop("additionalModelRequestFields", None)
    further = {**thinking.fields, **options, **(given if is_mapping(given) else {})}
    if further:
        body["additionalModelRequestFields"] = further
    return {**body, **({"outputConfig": output} if output else {}), **own, **endpoint.body}


def find_refused_part(refusal: Refusal, body: Mapping[str, Any]) -> str | None:
    """Return the optional part of a body that the API rejected, if any."""
    if refusal.status != 400:
        return None
    return next(
        (name for name, words in _OPTIONAL.items() if refusal.mentions(words) and _has_part(name, body)),
        None,
    )


def _has_part(name: str, body: Mapping[str, Any]) -> bool:
    if name == SIGNED:
        return True
    if name == "response_format":
        return "textFormat" in body.get("outputConfig", {})
    if name == "tool_choice":
        return "toolChoice" in body.get("toolConfig", {})
    if name == "cache":
        return _has_marks(body)
    if name == "thinking":
        return "additionalModelRequestFields" in body or "effort" in body.get("outputConfig", {})
    return _INFERENCE[name] in body.get("inferenceConfig", {})


def _read_inference(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options that all models have out of the options; the rest is the model's own."""
    given = options.pop("inferenceConfig", None)
    taken: dict[str, Any] = dict(given) if is_mapping(given) else {}
    for name in [*options]:
        if name in _INFERENCE:
            value = options.pop(name)
            is_text = _INFERENCE[name] == "stopSequences" and isinstance(value, str)
            taken.setdefault(_INFERENCE[name], [value] if is_text else value)
    return {name: value for name, value in taken.items() if value is not None}


def build_tool(tool: ToolSpec) -> dict[str, Any]:
    """Return a tool in the shape that the API expects; its description must not be empty."""
    return {
        "toolSpec": {
            "name": tool.name,
            "description": tool.description or tool.name,
            "inputSchema": {"json": write_parameters(tool.parameters)},
        }
    }


def _add_tools(
    body: dict[str, Any], request: ModelRequest, called: Sequence[str], *, can_force: bool
) -> None:
    tools = [build_tool(tool) for tool in request.tools]
    if request.tool_choice == "none" and not called:
        return
    if not tools:  # the API wants to know the tools that were called before
        tools = [build_tool(ToolSpec(name=name, description=FORGOTTEN, parameters={})) for name in called]
    if tools:
        must_call = request.tool_choice == "required" and bool(request.tools) and can_force
        body["toolConfig"] = {"tools": tools, **({"toolChoice": {"any": {}}} if must_call else {})}


def _write_output(request: ModelRequest, effort: str | None, without: Set[str]) -> dict[str, Any]:
    output: dict[str, Any] = {"effort": effort} if effort else {}
    if request.schema is not None and "response_format" not in without:
        schema = limit_schema(request.schema)
        if schema is not None:
            written = json.dumps(schema, ensure_ascii=False)
            structure = {"jsonSchema": {"name": "answer", "schema": written}}
            output["textFormat"] = {"type": "json_schema", "structure": structure}
    return output


def _mark_prefixes(body: dict[str, Any], family: Family, time_to_live: str) -> None:
    """Mark the beginnings that later requests repeat: tools, system prompt, the user's last two messages."""
    if not family.caches or _has_marks(body):
        return
    point = {"type": "default"} if time_to_live == "5m" else {"type": "default", "ttl": time_to_live}
    mark = {"cachePoint": point}
    tools, system, messages = _list_tools(body), body.get("system", []), body["messages"]
    size = measure(tools)
    if tools and family.caches_tools and size >= SHORTEST:
        tools.append(mark)
    size = measure(system, size)
    if system and size >= SHORTEST:
        system.append(mark)
    has_more = bool(tools) or len(messages) > 1
    if has_more and measure(messages, size) >= SHORTEST:
        for message in [message for message in messages if message["role"] == "user"][-2:]:
            message["content"].append(mark)


def _has_marks(body: Mapping[str, Any]) -> bool:
    blocks = (block for message in body["messages"] for block in message["content"])
    return any("cachePoint" in block for block in (*_list_tools(body), *body.get("system", ()), *blocks))


def _list_tools(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    config: Mapping[str, Any] = body.get("toolConfig") or {}
    return config.get("tools") or []
