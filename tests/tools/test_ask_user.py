"""`ask_user` asks the user, and the model reads the answers."""

from collections.abc import Mapping
from typing import Any

from dovetail.events.call import ToolCall
from dovetail.tools import CallOutcome, RunContext, ToolRunner, ToolSnapshot
from dovetail.tools.ask_user import ask_user

QUESTIONS = [
    {"question": "Which wood?", "choices": ["Oak", {"label": "Ash", "description": "lighter"}]},
    {"question": "Which tools?", "choices": ["Saw", "Plane"], "multiple": True, "free_text": False},
    {"question": "Anything else?"},
]


async def call(answer: Mapping[str, Any] | None) -> tuple[CallOutcome, list[Mapping[str, Any]]]:
    asked: list[Mapping[str, Any]] = []

    async def ask(kind: str, call_id: str, payload: Mapping[str, Any], seconds: float | None) -> Any:
        assert (kind, seconds) == ("question", None)
        asked.append(payload)
        return answer

    scope = RunContext(ask=None if answer is None else ask, agent_path=("main",), mode="plan")
    made = ToolCall(call_id="c1", name="ask_user", arguments={"questions": QUESTIONS})
    return await ToolRunner().run_call(ToolSnapshot.of([ask_user]), made, scope), asked


async def test_questions_are_one_ask_and_the_answers_reach_the_model() -> None:
    answers = {"q1": "Ash", "q2": ["Saw", "Plane"], "q3": " "}
    outcome, asked = await call({"value": {"answers": answers}})
    assert asked == [
        {
            "tool": "ask_user",
            "agent_path": ["main"],
            "questions": [
                {
                    "id": "q1",
                    "question": "Which wood?",
                    "choices": [{"label": "Oak"}, {"label": "Ash", "description": "lighter"}],
                    "multiple": False,
                    "free_text": True,
                },
                {
                    "id": "q2",
                    "question": "Which tools?",
                    "choices": [{"label": "Saw"}, {"label": "Plane"}],
                    "multiple": True,
                    "free_text": False,
                },
                {"id": "q3", "question": "Anything else?", "free_text": True},
            ],
        }
    ]
    assert outcome.status == "ok"
    assert outcome.result.llm_content == (
        "Which wood?\n→ Ash\n\nWhich tools?\n→ Saw, Plane\n\nAnything else?\n→ (skipped)"
    )
    assert outcome.result.data["answers"][1] == {"question": "Which tools?", "answer": ["Saw", "Plane"]}


async def test_skipped_questions_and_the_reason_reach_the_model() -> None:
    outcome, _ = await call({"approved": False, "reason": "you decide"})
    assert outcome.status == "ok"
    assert "skipped the questions and said: you decide" in str(outcome.result.llm_content)
    assert [pair["answer"] for pair in outcome.result.data["answers"]] == [None, None, None]


async def test_without_a_person_the_result_says_so() -> None:
    for answer in (None, {"status": "failed", "errorText": "An MCP client cannot answer."}):
        outcome, _ = await call(answer)
        assert outcome.status == "error"
        assert outcome.result.error is not None
        assert outcome.result.error.type == "no_person"
        assert "asked" in outcome.result.error.message
