"""What the notice of a task's end says."""

from dataclasses import replace
from typing import Any

import pytest

from dovetail.agents.definition import AgentDefinition
from dovetail.events.run_result import RunResult
from dovetail.sessions.message import make_session
from dovetail.sessions.notice import LONGEST_RESULT, write_notice

TASK = replace(make_session("local", "ses_1"), agent="scout")
HEAD = "[Background task 'ses_1' (agent 'scout')"


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (RunResult(text="Seven."), f"{HEAD} is done.]\nResult:\nSeven."),
        (RunResult(data={"oaks": 7}), f'{HEAD} is done.]\nResult:\n{{"oaks": 7}}'),
        (RunResult(reason="cancelled"), f"{HEAD} was cancelled.]"),
        (
            RunResult(reason="cancelled", text="I am at", turns=1),
            f"{HEAD} was cancelled.]\nIts last text:\nI am at",
        ),
        (
            RunResult(reason="error", error={"type": "model_error", "message": "No model."}),
            f"{HEAD} ended by error.]\nError: No model.",
        ),
        (
            RunResult(reason="max-turns", notice="The limit of 3 turns is reached."),
            f"{HEAD} ended by max-turns.]\nThe limit of 3 turns is reached.",
        ),
        (
            RunResult(text="Six, I think.", limit="timeout", notice="The limit of 5 seconds is reached."),
            f"{HEAD} is done.]\nThe limit of 5 seconds is reached.\nResult:\nSix, I think.",
        ),
    ],
    ids=["text", "data", "cancelled", "cancelled with a text", "error", "limit", "rescued"],
)
def test_notice_says_which_task_ended_how_and_with_what(result: RunResult, text: str) -> None:
    assert write_notice(TASK, None, result) == text


def test_long_result_is_cut_and_says_how_to_read_the_rest() -> None:
    notice = write_notice(TASK, None, RunResult(text="x" * (LONGEST_RESULT + 50)))
    cut, _, rest = notice.rpartition("\n")
    assert cut.endswith("x" * LONGEST_RESULT)
    assert rest.startswith("[50 more characters: read the whole result with background_tasks")
    assert '"task_id": "ses_1"' in rest


def test_result_is_in_the_form_that_callers_of_the_agent_read() -> None:
    def count(value: Any) -> str:
        return f"{value['oaks']} oaks"

    definition = AgentDefinition(name="scout", description="Looks.", process_output=count)
    assert write_notice(TASK, definition, RunResult(data={"oaks": 7})).endswith("Result:\n7 oaks")
    assert write_notice(TASK, definition, RunResult(data={"elms": 7})).endswith('Result:\n{"elms": 7}')
