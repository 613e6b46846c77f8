"""Requests as Gemini takes them: `systemInstruction`, `contents`, `tools` and `generationConfig`."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.events.call import ChatMessage, ModelRequest, ToolSpec
from dovetail.requesters.google.contents import ContentWriter, read_version, write_parts
from dovetail.requesters.google.schemas import write_schema
from dovetail.requesters.thinking import fit_tokens

LEAST_BUDGET = 128
"""The least budget of a model that cannot stop thinking."""

_NAMES = {
    "max_tokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens",
    "stop": "stopSequences",
    "n": "candidateCount",
    "top_logprobs": "logprobs",
}
"""Options under OpenAI's names whose names at Google differ in more than their spelling."""

_TOP = {"tools", "toolConfig", "safetySettings", "cachedContent", "labels", "serviceTier", "generationConfig"}
"""Options that have a place of their own; all others belong to `generationConfig`."""

_MODES = {"none": "NONE", "required": "ANY"}


def build_body(request: ModelRequest, *, extra: Mapping[str, Any], without: Set[str]) -> dict[str, Any]:
    """Return the JSON body; `extra` wins over everything else, `without` names options the server rejects."""
    writer = ContentWriter(read_version(request.model)[0], is_signed="signatures" not in without)
    body = _write_messages(request.messages, writer)
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_declare(tool) for tool in request.tools]}]
        if mode := _MODES.get(request.tool_choice):
            body["toolConfig"] = {"functionCallingConfig": {"mode": mode}}
    config: dict[str, Any] = {}
    if request.thinking is not None and "thinking" not in without:
        config["thinkingConfig"] = write_thinking(request.thinking, request.model)
    if request.schema is not None and "response_format" not in without:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = write_schema(request.schema)
    body["generationConfig"] = {name: value for name, value in config.items() if value}
    unwanted = {_to_camel(name) for name in without}
    given = {name: value for name, value in request.options.items() if _to_camel(name) not in unwanted}
    for options in (_place(given), extra):
        body = _merge(body, options)
    return {name: value for name, value in body.items() if value}


def write_thinking(thinking: str | int, model: str) -> dict[str, Any]:
    """Return how long a model thinks: in levels since Gemini 3, in tokens before; empty if it cannot."""
    version = read_version(model)
    if version < (2, 5):
        return {}
    if version >= (3, 0) and not isinstance(thinking, int):
        least = "LOW" if always_thinks(model) else "MINIMAL"
        level = least if thinking == "off" else thinking.upper()
        return {"includeThoughts": thinking != "off", "thinkingLevel": level}
    if thinking == "off":
        return {"thinkingBudget": LEAST_BUDGET if always_thinks(model) else 0}
    least, most = _find_range(model)
    tokens = thinking if thinking == -1 else fit_tokens(model, thinking, least, most)
    return {"includeThoughts": True, "thinkingBudget": tokens}


def _find_range(model: str) -> tuple[int, int]:
    """Return the least and the largest budget of a model."""
    if always_thinks(model):
        return LEAST_BUDGET, 32_768
    return 512 if "-lite" in model else 0, 24_576


def always_thinks(model: str) -> bool:
    """Return whether a model cannot answer without thinking."""
    return "-pro" in model


def _write_messages(messages: Sequence[ChatMessage], writer: ContentWriter) -> dict[str, Any]:
    """Return the conversation; system messages at its beginning are the instruction."""
    count = next((place for place, message in enumerate(messages) if not _is_system(message)), len(messages))
    system = [part for message in messages[:count] for part in write_parts(message.get("content"))]
    contents = writer.write(messages[count:])
    if not contents:  # Gemini does not answer an instruction alone
        return {"contents": [{"role": "user", "parts": system or [{"text": ""}]}]}
    return {"systemInstruction": {"role": "user", "parts": system} if system else None, "contents": contents}


def _is_system(message: ChatMessage) -> bool:
    return message.get("role") in ("system", "developer")


def _declare(tool: ToolSpec) -> dict[str, Any]:
    declared: dict[str, Any] = {"name": tool.name, "description": tool.description}
    schema = write_schema(tool.parameters)
    if any(value for name, value in schema.items() if name not in ("type", "title", "description")):
        declared["parametersJsonSchema"] = schema  # Gemini rejects an object without properties
    return declared


def _place(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options under Google's names, where Google expects them."""
    placed: dict[str, Any] = {"generationConfig": {}}
    for name, value in options.items():
        own = _NAMES.get(name) or _to_camel(name)
        if own == "logprobs" and isinstance(value, bool):  # OpenAI's switch; Google's is a number
            own = "responseLogprobs"
        if own == "stopSequences" and isinstance(value, str):
            value = [value]
        if own in _TOP:
            placed = _merge(placed, {own: value})
        elif value is not None:
            placed["generationConfig"][own] = value
    return placed


def _to_camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def _merge(body: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with the fields of another one: objects are merged, built-in tools are added."""
    merged = dict(body)
    for name, value in other.items():
        known = merged.get(name)
        if name == "tools" and is_list(known) and is_list(value):
            merged[name] = [*value, *known]  # functions last, as Google's own client has them
        elif is_mapping(known) and is_mapping(value):
            merged[name] = _merge(known, value)
        else:
            merged[name] = value
    return merged
