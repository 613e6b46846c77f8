"""Questions in the terminal: numbered choices, or words; an empty line skips a question.

The payload of an ask has `questions`, a `schema` (of an object with plain members), or only a `message`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.markup import escape

from dovetail.cli.approval import ask_approval
from dovetail.cli.keyboard import Keyboard, LineKeyboard, Menu, MenuItem
from dovetail.cli.output import Console
from dovetail.data.shapes import is_list, is_mapping, is_number
from dovetail.events.run_events import AskKind

_YES, _NO = "yes", "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question: the labels and descriptions of its choices, and how it may be answered."""

    id: str
    text: str
    choices: tuple[tuple[str, str], ...] = ()
    is_multiple: bool = False
    is_free: bool = True
    type: str = ""


async def ask_person(
    console: Console, kind: AskKind, payload: Mapping[str, Any], keyboard: Keyboard | None = None
) -> Mapping[str, Any]:
    """Ask the user at the terminal for an approval or an answer; what is for a browser fails."""
    if kind == "browser":
        return {"status": "failed", "errorText": "This chat runs in a terminal, without a page."}
    ask = ask_questions if kind == "question" else ask_approval
    return await ask(console, payload, keyboard or LineKeyboard(console))


async def ask_questions(
    console: Console, payload: Mapping[str, Any], keyboard: Keyboard
) -> Mapping[str, Any]:
    """Ask the user all questions of an ask; without any answer it is skipped."""
    if message := _read_message(payload):
        console.print(f"[yellow]{escape(message)}[/yellow]", highlight=False)
    answers: dict[str, Any] = {}
    for number, question in enumerate(read_questions(payload)):
        answer = await _ask_one(console, question, keyboard, comes_by_itself=number == 0)
        if answer is not None:
            answers[question.id] = answer
    if not answers:
        return {"approved": False}
    if is_list(payload.get("questions")):
        return {"value": {"answers": answers}}
    return {"value": answers if _find_members(payload) else answers["answer"]}


def read_questions(payload: Mapping[str, Any]) -> list[Question]:
    """Return the questions of an ask."""
    questions = payload.get("questions")
    if is_list(questions):
        return [_read_question(each) for each in questions if is_mapping(each)]
    members = _find_members(payload)
    if members:
        return [_read_member(name, member) for name, member in members.items() if is_mapping(member)]
    return [Question(id="answer", text="" if _read_message(payload) else str(dict(payload)))]


def read_choice(line: str, question: Question) -> Any:
    """Return the answer that a line means, None for an empty one.

    Raises:
        ValueError: the line is neither a choice nor, where that is possible, an answer in words.
    """
    words = line.strip()
    if not words:
        return None
    taken = [_find_choice(part, question) for part in words.split(",")] if question.choices else [None]
    found = [label for label in taken if label is not None]
    if len(found) == len(taken) and (question.is_multiple or len(found) == 1):
        return found if question.is_multiple else _to_type(found[0], question)
    if question.choices and not question.is_free:
        raise ValueError("Type the number of a choice.")
    return [words] if question.is_multiple else _to_type(words, question)


async def _ask_one(console: Console, question: Question, keyboard: Keyboard, *, comes_by_itself: bool) -> Any:
    menu = Menu(
        items=[MenuItem(str(number), *pair) for number, pair in enumerate(question.choices, 1)],
        is_multiple=question.is_multiple,
        is_free=question.is_free,
        ways=_describe_ways(question),
        comes_by_itself=comes_by_itself,
    )
    while True:
        line = await keyboard.ask(question.text, menu)
        try:
            return read_choice(line or "", question)
        except ValueError as error:
            console.print(str(error), style="red")


def _describe_ways(question: Question) -> str:
    ways = (
        ["numbers, with commas between them" if question.is_multiple else "a number"]
        if question.choices
        else []
    )
    ways += ["your own words"] if question.is_free else []
    return f"{' or '.join(ways)}; empty to skip"


def _find_choice(text: str, question: Question) -> str | None:
    text, labels = text.strip(), [label for label, _ in question.choices]
    if text.isdecimal() and 1 <= int(text) <= len(labels):
        return labels[int(text) - 1]
    return next((label for label in labels if label.casefold() == text.casefold()), None)


def _to_type(answer: str, question: Question) -> Any:
    if question.type == "boolean":
        return answer == _YES
    if question.type not in ("integer", "number"):
        return answer
    try:
        value = int(answer) if question.type == "integer" else float(answer)
    except ValueError as error:
        raise ValueError("It must be a number.") from error
    if not is_number(value):
        raise ValueError("It must be a number.")
    return value


def _read_message(payload: Mapping[str, Any]) -> str:
    texts = (payload.get(name) for name in ("message", "question", "text"))
    return next((text for text in texts if isinstance(text, str) and text), "")


def _find_members(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    schema = payload.get("schema")
    members = schema.get("properties") if is_mapping(schema) else None
    return members if is_mapping(members) else {}


def _read_question(value: Mapping[str, Any]) -> Question:
    choices = value.get("choices")
    pairs = _read_choices(choices if is_list(choices) else ())
    return Question(
        id=str(value.get("id")),
        text=str(value.get("question", "")),
        choices=pairs,
        is_multiple=value.get("multiple") is True,
        is_free=not pairs or value.get("free_text") is True,
    )


def _read_member(name: str, member: Mapping[str, Any]) -> Question:
    is_multiple, items = member.get("type") == "array", member.get("items")
    values: Mapping[str, Any] = member
    if is_multiple:
        values = items if is_mapping(items) else member
    choices = values.get("enum")
    pairs = _read_choices(choices if is_list(choices) else ())
    if member.get("type") == "boolean":
        pairs = ((_YES, ""), (_NO, ""))
    description = f": {member['description']}" if member.get("description") else ""
    return Question(
        id=name,
        text=f"{member.get('title') or name}{description}",
        choices=pairs,
        is_multiple=is_multiple,
        is_free=not pairs,
        type=str(member.get("type", "")),
    )


def _read_choices(values: Sequence[Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (str(each.get("label", "")), str(each.get("description", "")))
        if is_mapping(each)
        else (str(each), "")
        for each in values
    )
