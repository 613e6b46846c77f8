"""Questions in the terminal: numbered choices, words, and forms from a schema."""

import io
from typing import Any

from dovetail.cli.output import Console
from dovetail.cli.questions import ask_questions
from typed_lines import TypedLines

QUESTIONS = {
    "questions": [
        {
            "id": "q1",
            "question": "Which wood?",
            "choices": [{"label": "Oak"}, {"label": "Ash"}],
            "free_text": True,
        },
        {
            "id": "q2",
            "question": "Which tools?",
            "choices": [{"label": "Saw", "description": "sharp"}, {"label": "Plane"}],
            "multiple": True,
            "free_text": False,
        },
        {"id": "q3", "question": "Anything else?"},
    ]
}


async def ask(payload: dict[str, Any], *lines: str | None) -> tuple[Any, str]:
    out = io.StringIO()
    console = Console(file=out, width=120)
    return await ask_questions(console, payload, TypedLines(console, *lines)), out.getvalue()


async def test_choices_are_taken_by_number_or_name_or_answered_in_words() -> None:
    answer, shown = await ask(QUESTIONS, "2\n", "plane, 1\n", "\n")
    assert answer == {"value": {"answers": {"q1": "Ash", "q2": ["Plane", "Saw"]}}}
    assert "  [1] Saw  sharp" in shown
    answer, shown = await ask(QUESTIONS, "Elm, please\n", "3\n", "1\n", "Thanks\n")
    assert answer == {"value": {"answers": {"q1": "Elm, please", "q2": ["Saw"], "q3": "Thanks"}}}
    assert "Type the number of a choice." in shown


async def test_without_any_answer_the_questions_are_skipped() -> None:
    assert (await ask(QUESTIONS, None, None, None))[0] == {"approved": False}


async def test_a_schema_is_asked_member_by_member_and_answered_in_its_types() -> None:
    members = {
        "count": {"type": "integer", "title": "How many"},
        "gift": {"type": "boolean"},
        "color": {"type": "string", "enum": ["red", "blue"]},
        "extras": {"type": "array", "items": {"enum": ["card", "bow"]}},
        "note": {"type": "string"},
    }
    payload = {"message": "Your order", "schema": {"type": "object", "properties": members}}
    answer, shown = await ask(payload, "many\n", "3\n", "yes\n", "blue\n", "1,2\n", "\n")
    assert answer == {"value": {"count": 3, "gift": True, "color": "blue", "extras": ["card", "bow"]}}
    assert shown.startswith("Your order\n")
    assert "It must be a number." in shown


async def test_a_message_is_answered_in_words() -> None:
    assert (await ask({"message": "Where to?"}, "Rome\n"))[0] == {"value": "Rome"}
