"""Makes messages fit for an embedded model: system, user and assistant texts alone."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from dovetail.errors import ModelError
from dovetail.messages.request import ChatMessage, ToolSpec
from dovetail.requesters.content import build_messages, is_parts, read_text
from dovetail.requesters.embedded.tool_choice import TELL_LINE, describe_tools, write_call

TextMessage = dict[str, str]


def build_texts(messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> list[TextMessage]:
    """The conversation as the model reads it; with tools, its own turns begin with their choice.

    Tools stand behind the first system text: further ones may change, and what is before them is read once.
    """
    built = build_messages(messages)
    names = _name_calls(built)
    texts = [_build_text(message, names, has_tools=bool(tools)) for message in built]
    for result, answer in pairwise(range(len(built))):
        if _is_result(built[result]) and _is_answer(built[answer]):
            texts[result] = _ask_for_answer(texts[result])
    system = [text["content"] for text in texts if text["role"] == "system"]
    if tools:
        first, *further = system or ["You are a helpful assistant."]
        system = [first, describe_tools(tools), *further]
    others = [text for text in texts if text["role"] != "system"]
    head: list[TextMessage] = [{"role": "system", "content": "\n\n".join(system)}] if system else []
    return [*head, *others]


def begin_answer(texts: Sequence[TextMessage], messages: Sequence[ChatMessage]) -> list[TextMessage]:
    """The conversation at the moment the model starts to answer, as `build_texts` will show it later on."""
    *before, last = texts
    if _is_result(messages[-1]):
        last = _ask_for_answer(last)
    return [*before, last, {"role": "assistant", "content": f"{TELL_LINE}\n"}]


def _is_result(message: Mapping[str, Any]) -> bool:
    return message["role"] == "tool"


def _is_answer(message: Mapping[str, Any]) -> bool:
    return message["role"] == "assistant" and not message.get("tool_calls")


def _ask_for_answer(text: TextMessage) -> TextMessage:
    # Without it, a small model often thanks for the result or refuses instead of telling it.
    return {**text, "content": f"{text['content']}\n\nNow answer my question with it."}


def _name_calls(messages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    return {call["id"]: call["function"]["name"] for call in calls}


def _build_text(message: Mapping[str, Any], names: Mapping[str, str], *, has_tools: bool) -> TextMessage:
    role = message["role"]
    text = _read_content(message.get("content"))
    if role in ("system", "developer"):
        return {"role": "system", "content": text}
    if role == "tool":
        name = names.get(message.get("tool_call_id", ""), "the tool")
        return {"role": "user", "content": f"Result of {name}: {text}"}
    if role != "assistant":
        return {"role": "user", "content": text}
    if calls := message.get("tool_calls"):
        lines = [write_call(call["function"]["name"], call["function"]["arguments"]) for call in calls]
        return {"role": "assistant", "content": "\n".join(lines)}
    return {"role": "assistant", "content": f"{TELL_LINE}\n{text}" if has_tools else text}


def _read_content(content: Any) -> str:
    if is_parts(content) and any(part["type"] != "text" for part in content):
        kinds = sorted({part["type"] for part in content} - {"text"})
        raise ModelError(
            f"the embedded models read text only, and a message holds: {', '.join(kinds)}",
            provider="local",
            hint="Choose another model for it, with DOVETAIL_MODEL or the setting model.name.",
        )
    return read_text(content)
