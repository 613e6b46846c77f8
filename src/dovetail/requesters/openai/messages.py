"""Write messages for chat completions, with the reasoning that their provider wants back."""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.data.shapes import is_list, is_mapping, read_count
from dovetail.events.call import ChatMessage
from dovetail.requesters.content import build_messages, read_text
from dovetail.requesters.openai.dialects import Dialect
from dovetail.requesters.openai.options import rejects
from dovetail.requesters.openai.reasoning import IN_CONTENT, IN_TAGS, THOUGHT_FIELDS
from dovetail.requesters.parts import CallIds, find_own_parts
from dovetail.requesters.refusal import Refusal
from dovetail.requesters.think_tags import TAGS

PICTURES = "(The pictures that the tools returned.)"
_INTRODUCTION = {"type": "text", "text": PICTURES}
_ABOUT_PICTURES = ("image", "vision", "multimodal", "multi-modal", "content type", "after role")
_FIELDS = ("reasoning_content", "reasoning_details", "reasoning", "thinking", "extra_content")


def build_chat_messages(
    messages: Sequence[ChatMessage], source: str, dialect: Dialect, *, shows_pictures: bool = True
) -> list[dict[str, Any]]:
    """Return the messages as JSON data; parts that `source` made go back where the dialect wants them.

    Results of tools are text here: their pictures follow in a message of the user, if `shows_pictures`.
    """
    built = build_messages(messages)
    if dialect.ids is not None:
        _fit_ids(built, dialect.ids)
    with_calls = _find_turns_with_calls(messages)
    for place, (message, sent) in enumerate(zip(messages, built, strict=True)):
        if message.get("role") != "assistant":
            continue
        returns = dialect.returns == "always" or (dialect.returns == "calls" and place in with_calls)
        for part in find_own_parts(message, source):
            data = part["data"]
            if "extra_content" in data:
                _add_to_call(sent, read_count(part.get("calls")), data["extra_content"])
            elif returns:
                _add_reasoning(sent, data)
        if dialect.demands and sent.get("tool_calls"):
            sent.setdefault(dialect.demands, "")
    return _move_pictures(built, shows_pictures) if any(map(_has_pictures, built)) else built


def _move_pictures(built: list[dict[str, Any]], shows_pictures: bool) -> list[dict[str, Any]]:
    """Move the pictures of results behind the results of their turn."""
    moved: list[dict[str, Any]] = []
    pictures: list[Any] = []
    for sent in [*built, None]:
        if pictures and (sent is None or sent["role"] != "tool"):
            moved.append({"role": "user", "content": [_INTRODUCTION, *pictures]})
            pictures = []
        if sent is not None and _has_pictures(sent):
            if shows_pictures:
                pictures += [part for part in sent["content"] if part.get("type") == "image_url"]
            sent = {**sent, "content": read_text(sent["content"]) or "(A picture.)"}
        if sent is not None:
            moved.append(sent)
    return moved


def _has_pictures(sent: Mapping[str, Any]) -> bool:
    content = sent.get("content")
    return (
        sent["role"] == "tool"
        and is_list(content)
        and any(part.get("type") == "image_url" for part in content)
    )


def refuses_pictures(refusal: Refusal, body: Mapping[str, Any]) -> bool:
    """Return whether the server rejects the pictures that tools returned: its model may only read text."""
    is_sent = any(
        message["role"] == "user"
        and is_list(message.get("content"))
        and message["content"][0] == _INTRODUCTION
        for message in body["messages"]
    )
    return is_sent and any(word in refusal.message.lower() for word in _ABOUT_PICTURES)


def _fit_ids(built: list[dict[str, Any]], ids: CallIds) -> None:
    """Replace the ids that the server rejects, in calls and results alike."""
    for sent in built:
        if sent.get("tool_calls"):
            sent["tool_calls"] = [{**call, "id": ids.fit(str(call["id"]))} for call in sent["tool_calls"]]
        if "tool_call_id" in sent:
            sent["tool_call_id"] = ids.fit(str(sent["tool_call_id"]))


def _find_turns_with_calls(messages: Sequence[ChatMessage]) -> set[int]:
    """Return the places of messages in turns with tool calls; a turn begins with a user's message."""
    found: set[int] = set()
    turn: list[int] = []
    has_calls = False
    for place, message in enumerate(messages):
        if message.get("role") == "user":
            turn, has_calls = [], False
        turn.append(place)
        if has_calls := has_calls or bool(message.get("tool_calls")):
            found.update(turn)
    return found


def _add_to_call(sent: dict[str, Any], index: int, extra: Any) -> None:
    calls: Any = sent.get("tool_calls")
    if is_list(calls) and index < len(calls):
        calls[index] = {**calls[index], "extra_content": extra}


def _add_reasoning(sent: dict[str, Any], data: Mapping[str, Any]) -> None:
    """Put reasoning where it was when it came."""
    if is_list(details := data.get("reasoning_details")):
        sent["reasoning_details"] = [*sent.get("reasoning_details", ()), *details]
        return
    field, text = str(data.get("field", "")), str(data.get("text", ""))
    if field == IN_CONTENT:
        thought = {"type": "thinking", "thinking": [{"type": "text", "text": text}], "closed": True}
        sent["content"] = [thought, *_list_content(sent.get("content"))]
    elif field == IN_TAGS:
        sent["content"] = f"{TAGS[0]}{text}{TAGS[1]}{read_text(sent.get('content'))}"
    elif field in THOUGHT_FIELDS:
        sent[field] = sent.get(field, "") + text


def _list_content(content: Any) -> list[Any]:
    if is_list(content):
        return [part for part in content if is_mapping(part)]
    return [{"type": "text", "text": content}] if content else []


def refuses_reasoning(refusal: Refusal, body: Mapping[str, Any]) -> bool:
    """Return whether the server rejects the reasoning in the messages."""
    if not rejects(refusal):
        return False
    sent = {name for message in body["messages"] for name in message}
    sent.update("thinking" for message in body["messages"] if is_list(message.get("content")))
    return any(f"{name}'" in refusal.message for name in _FIELDS if name in sent)
