"""What a person answers holds: approve, edit, reject, respond, and remember."""

from collections.abc import Mapping
from typing import Any

from dovetail.events.call import ToolCall
from dovetail.policy import Policy, PolicyRule
from dovetail.tools import CallOutcome, Kind, RunContext, ToolRunner, ToolSnapshot, make_tool


async def write(path: str, text: str = "") -> str:
    return f"{path}: {text}"


class Person:
    """Answers each question with the next answer."""

    def __init__(self, *answers: Mapping[str, Any] | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Mapping[str, Any]] = []

    async def ask(
        self, kind: str, call_id: str, payload: Mapping[str, Any], seconds: float | None
    ) -> Mapping[str, Any]:
        self.asked.append(payload)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def call(
    person: Person, runner: ToolRunner | None = None, run: str = "run", **arguments: Any
) -> CallOutcome:
    tools = ToolSnapshot.of([make_tool(write, kind=Kind.Write, display_name="Write a file")])
    scope = RunContext(ask=person.ask, run_path=(run,), agent_path=("main",), owner="ann")
    made = ToolCall(call_id="1", name="write", arguments=arguments or {"path": "a"})
    return await (runner or ToolRunner()).run_call(tools, made, scope)


async def test_question_says_what_would_happen() -> None:
    person = Person({"approved": True})
    assert (await call(person)).status == "ok"
    assert person.asked == [
        {
            "tool": "write",
            "title": "Write a file",
            "kind": "write",
            "args": {"path": "a"},
            "reason": "it may change something outside",
            "agent_path": ["main"],
        }
    ]


async def test_edited_arguments_are_validated_and_judged_again() -> None:
    policy = Policy(
        [PolicyRule(action="deny", tool="write", arguments={"path": "/etc/.*"}, reason="not there")]
    )
    runner = ToolRunner(policy)
    edited = await call(Person({"approved": True, "edited_args": {"path": "b", "text": 3}}), runner)
    assert edited.result.data == "b: 3"
    wrong = await call(Person({"approved": True, "edited_args": {"text": "x"}}), runner)
    assert (wrong.status, wrong.result.error and wrong.result.error.type) == ("error", "invalid_tool_params")
    denied = await call(Person({"approved": True, "edited_args": {"path": "/etc/x"}}), runner)
    assert denied.status == "denied"
    assert "is not allowed with the edited arguments: not there" in str(denied.result.llm_content)


async def test_rejection_and_its_words_reach_the_model() -> None:
    outcome = await call(Person({"approved": False, "value": "use another name"}))
    assert outcome.status == "denied"
    assert "declined this call of 'write' and said: use another name" in str(outcome.result.llm_content)


async def test_only_a_clear_yes_is_a_yes() -> None:
    for answer in ({}, {"approved": "yes"}, {"approved": 1}, {"value": True}, {"approved": None}):
        assert (await call(Person(answer))).status == "denied"


async def test_time_out_and_broken_channel_do_not_run_the_call() -> None:
    assert (await call(Person({"status": "timeout"}))).status == "timeout"
    broken = await call(Person(ConnectionError("gone")))
    assert broken.status == "denied"
    assert "The approval could not be requested: gone" in str(broken.result.llm_content)


async def test_remembered_answer_is_not_asked_for_again() -> None:
    runner = ToolRunner()
    person = Person({"approved": True, "remember": "always"}, {"approved": False}, {"approved": False})
    assert (await call(person, runner)).status == "ok"
    assert (await call(person, runner, run="other")).status == "ok"
    assert len(person.asked) == 1
    assert (await call(person, runner, path="b")).status == "denied"
    assert (await call(person, runner, path="a", text="more")).status == "denied"


async def test_answer_for_the_run_holds_for_the_run_alone() -> None:
    runner = ToolRunner()
    person = Person({"approved": True, "remember": "run"}, {"approved": False})
    assert (await call(person, runner)).status == "ok"
    assert (await call(person, runner)).status == "ok"
    assert (await call(person, runner, run="other")).status == "denied"
