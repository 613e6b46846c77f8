"""The checks of the matrix notice what they are there for."""

from resume.model import Asked, Message, Model, make_call, say
from resume.properties import check_conversation, check_requests, skip_void
from resume.story import JOB

QUESTION: Message = {"role": "user", "content": JOB}
ANSWER: Message = {"role": "assistant", "content": say(JOB, 0), "tool_calls": [{"id": "call-0"}]}
DONE: Message = {"role": "tool", "tool_call_id": "call-0", "content": "note 0 is done"}
UNKNOWN: Message = {
    "role": "tool",
    "tool_call_id": "call-0",
    "content": "Whether it had an effect is not known.",
}


async def make_model() -> Model:
    model = Model()
    model.plans[JOB] = [[make_call("note", "0")]]
    return model


def test_a_turn_that_is_lost_is_noticed() -> None:
    before, after = Asked(JOB, 1, [QUESTION, ANSWER, DONE]), Asked(JOB, 0, [QUESTION])
    assert check_requests([before, after]) == [f"turn 0 of {JOB!r} does not begin with turn 1"]


def test_a_result_that_changes_is_noticed() -> None:
    before, after = Asked(JOB, 1, [QUESTION, ANSWER, DONE]), Asked(JOB, 1, [QUESTION, ANSWER, UNKNOWN])
    assert check_requests([before, after]) == [f"turn 1 of {JOB!r} does not begin with turn 1"]
    assert skip_void([before, after]) == [after]


async def test_a_conversation_as_planned_has_no_problems() -> None:
    asked = [Asked(JOB, 0, [QUESTION]), Asked(JOB, 1, [QUESTION, ANSWER, DONE])]
    assert check_conversation(await make_model(), asked) == []


async def test_a_missing_turn_and_missing_news_are_noticed() -> None:
    problems = check_conversation(await make_model(), [Asked(JOB, 0, [QUESTION])], ["Please hurry."])
    assert problems[0] == f"{JOB!r} was last asked for turn 0 of 1"
    assert problems[-1] == "'Please hurry.' did not reach the model"
