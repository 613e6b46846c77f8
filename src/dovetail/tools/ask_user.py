"""`ask_user`: a tool with which a model asks the user questions, with choices or in words.

The questions are one ask of kind `question`, stored like an approval: it survives a restart, and any page or
terminal of the user can answer it. The answer is `{"value": {"answers": {id: text or texts}}}`; a question
that is left out was skipped, and `{"approved": False}` skips them all.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.errors import ToolError
from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.tools.tool import Tool, ToolResult

_CHOICE = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "label": {"type": "string", "description": "A few words."},
                "description": {"type": "string", "description": "What choosing it means."},
            },
            "required": ["label"],
        },
    ]
}
_PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "minItems": 1,
            "maxItems": 10,
            "description": "The questions, all asked at once.",
            "items": {
                "type": "object",
                "properties": {
                    "question": {"type": "string", "minLength": 1, "description": "The question itself."},
                    "choices": {
                        "type": "array",
                        "maxItems": 20,
                        "items": _CHOICE,
                        "description": "Possible answers; without them the user writes the answer.",
                    },
                    "multiple": {"type": "boolean", "description": "Whether several choices may be taken."},
                    "free_text": {
                        "type": "boolean",
                        "description": "Whether the user may write another answer; true by default.",
                    },
                },
                "required": ["question"],
            },
        }
    },
    "required": ["questions"],
    "additionalProperties": False,
}


async def _ask(args: dict[str, Any], context: ToolContext) -> ToolResult:
    questions = [_read_question(f"q{number}", item) for number, item in enumerate(args["questions"], 1)]
    if context.ask is None:
        raise ToolError(
            "The user cannot be asked here: no person follows this run. Decide with what you know, and "
            "say what you assumed.",
            type="no_person",
        )
    payload = {"tool": "ask_user", "agent_path": list(context.scope.agent_path), "questions": questions}
    return _make_result(questions, await context.ask("question", payload))


def _read_question(question_id: str, item: Mapping[str, Any]) -> dict[str, Any]:
    choices = [each if is_mapping(each) else {"label": str(each)} for each in item.get("choices") or ()]
    question: dict[str, Any] = {"id": question_id, "question": item["question"]}
    if choices:
        question |= {"choices": choices, "multiple": item.get("multiple") is True}
    return {**question, "free_text": not choices or item.get("free_text") is not False}


def _make_result(questions: Sequence[Mapping[str, Any]], answer: Mapping[str, Any]) -> ToolResult:
    if answer.get("status") in ("failed", "timeout"):
        reason = answer.get("errorText") or "No answer came in time."
        raise ToolError(f"The user could not be asked. {reason}", type="no_person")
    answers = read_answers(answer.get("value"))
    if answer.get("approved") is False or not answers:
        reason = answer.get("reason")
        said = f" and said: {reason}" if isinstance(reason, str) and reason.strip() else ""
        text = f"The user skipped the questions{said}. Continue with what you know, and say what you assumed."
        return ToolResult(text, data=_pair(questions, {}))
    pairs = _pair(questions, answers)
    lines = [f"{pair['question']}\n→ {_to_words(pair['answer'])}" for pair in pairs["answers"]]
    return ToolResult("\n\n".join(lines), data=pairs)


def read_answers(value: Any) -> dict[str, str | list[str]]:
    """Return the answers by the ids of their questions; blank ones count as skipped."""
    given = value.get("answers") if is_mapping(value) else None
    answers: dict[str, str | list[str]] = {}
    for question_id, answer in given.items() if is_mapping(given) else ():
        if isinstance(answer, str) and answer.strip():
            answers[question_id] = answer.strip()
        elif is_list(answer) and (texts := [text for text in answer if isinstance(text, str) and text]):
            answers[question_id] = texts
    return answers


def _pair(
    questions: Sequence[Mapping[str, Any]], answers: Mapping[str, str | list[str]]
) -> dict[str, list[dict[str, Any]]]:
    return {
        "answers": [{"question": each["question"], "answer": answers.get(each["id"])} for each in questions]
    }


def _to_words(answer: str | list[str] | None) -> str:
    return "(skipped)" if answer is None else answer if isinstance(answer, str) else ", ".join(answer)


ask_user = Tool(
    name="ask_user",
    display_name="Ask you",
    description=(
        "Ask the user when you cannot continue without a decision or a fact that only they know. "
        "Ask everything at once, and offer choices where possible."
    ),
    parameters=_PARAMETERS,
    execute=_ask,
    kind=Kind.Think,  # it changes nothing, so it may run in plan mode, too
    tags=("user",),
    idempotent=True,  # called again after a crash, it finds its question, or the answer
    time_limit=None,
)
"""The tool with which agents ask the user."""
