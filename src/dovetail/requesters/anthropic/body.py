"""Write requests the way the Messages API takes them."""

import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.requesters.anthropic.caching import mark_prefixes
from dovetail.requesters.anthropic.content import MessagesWriter
from dovetail.requesters.anthropic.schema import limit_schema, write_parameters
from dovetail.requesters.anthropic.thinking import (
    ThinkingPlan,
    choose_output,
    drop_sampling,
    plan_thinking,
)
from dovetail.requesters.anthropic.traits import find_traits
from dovetail.requesters.blocks import FORGOTTEN
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.options import translate_options
from dovetail.requesters.refusal import Refusal

DROPPED = "thinking.block_binding"
"""The optional part that stands for thinking that is only valid after exactly the same messages."""

SIGNED = "thinking blocks"
"""The optional part that stands for earlier thinking; the API rejects what another account has signed."""

_OPTIONAL = {
    DROPPED: ("bound to a different conversation", "prefix_mismatch_behavior"),
    SIGNED: ("Invalid `signature`", "blocks in the latest assistant message cannot be modified"),
    "response_format": ("output_config.format", "output_format", "structured output", "json_schema"),
    "tool_choice": ("tool_choice",),
    "cache_control": ("cache_control",),
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "top_k": ("top_k",),
    "thinking": ("thinking.", "thinking:", "support thinking", "extended thinking", "effort"),
}
"""Parts of a body that can be left out, and the words by which the API refuses them."""

_TOO_MANY = re.compile(r"max_tokens: \d+ > (\d+)")
_CHOICES = {"required": "any", "none": "none"}
_OTHER_NAMES = {
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "stop": "stop_sequences",
}
_KNOWN = {"metadata", "parallel_tool_calls", "service_tier"}


def build_body(request: ModelRequest, endpoint: Endpoint, source: str, without: Set[str]) -> dict[str, Any]:
    """Return the JSON body; `endpoint.body` wins over everything else."""
    request = translate_options(request, known=_KNOWN)
    conversation = MessagesWriter(source, thinks=SIGNED not in without).write(request.messages)
    plan = _plan(request, conversation, without)
    options = _read_options(request, plan, without)
    one_call = options.pop("parallel_tool_calls", None) is False
    tokens = choose_output(request.model, plan, options.pop("max_tokens", None), streams=request.stream)
    body: dict[str, Any] = {"model": request.model, "max_tokens": min([tokens, *_read_limits(without)])}
    own_tools = [*_read_tools(options.pop("tools", None)), *_read_tools(endpoint.body.get("tools"))]
    _add_tools(body, request, [*map(build_tool, request.tools), *own_tools], plan, without)
    if one_call and body.get("tools") and "tool_choice" not in without:
        _forbid_parallel_calls(body)
    if conversation.system:
        body["system"] = conversation.system
    body["messages"] = conversation.messages
    _add_forgotten_tools(body, conversation.called_tools)
    body |= _write_thinking(request, plan, without)
    if request.stream:
        body["stream"] = True
    given = {name: value for name, value in endpoint.body.items() if name != "tools"}
    body |= _merge_output(body, {**options, **given})
    if endpoint.cache != "off" and "cache_control" not in without:
        mark_prefixes(body, endpoint.cache)
    return body


def build_tool(tool: ToolSpec) -> dict[str, Any]:
    """Return a tool in the shape that the API expects."""
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": write_parameters(tool.parameters),
    }


def find_refused_part(refusal: Refusal, body: Mapping[str, Any]) -> str | None:
    """Return the optional part of a body that the API rejected, if any."""
    if refusal.status not in (400, 422):
        return None
    if most := _TOO_MANY.search(refusal.message):
        return f"max_tokens {most[1]}"
    return next(
        (name for name, words in _OPTIONAL.items() if refusal.mentions(words) and _has_part(name, body)),
        None,
    )


def _has_part(name: str, body: Mapping[str, Any]) -> bool:
    config: Mapping[str, Any] = body.get("output_config") or {}
    if name == "response_format":
        return "format" in config
    if name == "thinking":
        return "thinking" in body or "effort" in config
    if name == DROPPED:
        return "block_binding" not in (body.get("thinking") or {})
    return name in ("cache_control", SIGNED) or name in body


def _plan(request: ModelRequest, conversation: MessagesWriter, without: Set[str]) -> ThinkingPlan:
    if "thinking" in without:
        return ThinkingPlan()
    plan = plan_thinking(request.model, request.thinking)
    return ThinkingPlan() if plan.budget and conversation.lacks_thinking else plan


def _read_options(request: ModelRequest, plan: ThinkingPlan, without: Set[str]) -> dict[str, Any]:
    given = {_OTHER_NAMES.get(name, name): value for name, value in request.options.items()}
    if isinstance(given.get("stop_sequences"), str):
        given["stop_sequences"] = [given["stop_sequences"]]
    kept = drop_sampling(request.model, plan, given)
    return {name: value for name, value in kept.items() if name not in without}


def _read_limits(without: Set[str]) -> list[int]:
    """Return the numbers of tokens that the API has named as the most that the model can write."""
    return [int(part.removeprefix("max_tokens ")) for part in without if part.startswith("max_tokens ")]


def _read_tools(value: Any) -> list[Any]:
    return value if is_list(value) else []


def _add_tools(
    body: dict[str, Any],
    request: ModelRequest,
    tools: list[dict[str, Any]],
    plan: ThinkingPlan,
    without: Set[str],
) -> None:
    if not tools:
        return
    body["tools"] = tools
    choice = _CHOICES.get(request.tool_choice)
    can_force = find_traits(request.model).forces and not plan.thinking and "tool_choice" not in without
    if choice == "none" or (choice == "any" and can_force):
        body["tool_choice"] = {"type": choice}


def _forbid_parallel_calls(body: dict[str, Any]) -> None:
    choice = body.get("tool_choice") or {"type": "auto"}
    if choice["type"] != "none":
        body["tool_choice"] = {**choice, "disable_parallel_tool_use": True}


def _add_forgotten_tools(body: dict[str, Any], called: Sequence[str]) -> None:
    """Describe the tools that were called before, if the request has none: the API wants to know them."""
    if called and not body.get("tools"):
        body["tools"] = [
            build_tool(ToolSpec(name=name, description=FORGOTTEN, parameters={})) for name in called
        ]
        body["tool_choice"] = {"type": "none"}


def _write_thinking(request: ModelRequest, plan: ThinkingPlan, without: Set[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if plan.thinking:
        fields["thinking"] = dict(plan.thinking)
    if DROPPED in without and plan.is_on:
        thinking = fields.setdefault("thinking", {"type": "adaptive"})
        thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
    output: dict[str, Any] = {"effort": plan.effort} if plan.effort else {}
    if request.schema is not None and "response_format" not in without:
        schema = limit_schema(request.schema)
        if schema is not None:
            output["format"] = {"type": "json_schema", "schema": schema}
    return {**fields, "output_config": output} if output else fields


def _merge_output(body: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the user's fields; those in `output_config` are added to ours."""
    own, theirs = body.get("output_config"), given.get("output_config")
    if is_mapping(own) and is_mapping(theirs):
        return {**given, "output_config": {**own, **theirs}}
    return dict(given)
