"""Rules decide in order of priority, remembered answers are narrow, and a decision can be explained."""

from dataclasses import replace
from pathlib import Path

import pytest

from dovetail.errors import ConfigError
from dovetail.events.call import Kind
from dovetail.policy.policy import Policy
from dovetail.policy.remembered import RememberedRules
from dovetail.policy.rule import PolicyCall, PolicyRule


@pytest.mark.parametrize(
    ("kind", "mode", "action"),
    [
        (Kind.Read, "default", "allow"),
        (Kind.Search, "plan", "allow"),
        (Kind.Think, "default", "allow"),
        (Kind.Fetch, "default", "allow"),
        (Kind.Other, "default", "allow"),
        (Kind.Other, "plan", "deny"),
        (Kind.Write, "default", "ask"),
        (Kind.Write, "auto", "allow"),
        (Kind.Edit, "auto", "allow"),
        (Kind.Delete, "auto", "ask"),
        (Kind.Execute, "auto", "ask"),
        (Kind.Communicate, "default", "ask"),
        (Kind.Execute, "yolo", "allow"),
        (Kind.Delete, "plan", "deny"),
    ],
)
def test_kind_and_mode_decide_where_no_rule_speaks(kind: Kind, mode: str, action: str) -> None:
    call = PolicyCall(tool="saw", kind=kind, mode=mode)  # pyright: ignore[reportArgumentType]
    assert Policy().decide(call).action == action


def test_highest_priority_decides_and_deny_wins_a_tie() -> None:
    policy = Policy(
        [
            PolicyRule(action="allow", tool="shell", priority=10),
            PolicyRule(action="deny", tool="sh*", priority=10),
            PolicyRule(action="deny", tool="read", priority=1),
            PolicyRule(action="allow", tool="read", priority=2),
        ]
    )
    assert policy.decide(PolicyCall(tool="shell", kind=Kind.Execute)).action == "deny"
    assert policy.decide(PolicyCall(tool="read", kind=Kind.Read)).action == "allow"


def test_explicit_deny_holds_in_yolo_mode() -> None:
    policy = Policy([PolicyRule(action="deny", tool="shell")])
    assert policy.decide(PolicyCall(tool="shell", kind=Kind.Execute, mode="yolo")).action == "deny"


def test_rule_speaks_of_an_agent_by_its_path() -> None:
    policy = Policy([PolicyRule(action="deny", agent="main/scout*", tool="*")])
    call = PolicyCall(tool="find", kind=Kind.Search, agent_path=("main", "scout"))
    assert policy.decide(call).action == "deny"
    assert policy.decide(PolicyCall(tool="find", kind=Kind.Search, agent_path=("main",))).action == "allow"
    assert str(policy.explain(call)).startswith("deny for agent main/scout: rule 'deny *'")


def test_answer_that_is_remembered_holds_for_the_same_path_only() -> None:
    policy = Policy()
    own = PolicyCall(tool="write", kind=Kind.Write, agent_path=("scout",))
    assert policy.remember(own, "always") is not None
    assert policy.decide(own).action == "allow"
    assert policy.decide(replace(own, agent_path=("main", "scout"))).action == "ask"
    assert policy.decide(replace(own, agent_path=())).action == "ask"


ALLOW_TMP = PolicyRule(action="allow", tool="write", arguments={"path": r"/tmp/[a-z]+"}, priority=5)


@pytest.mark.parametrize(
    "args",
    [
        {"path": "/etc/passwd", "options": {"path": "/tmp/a"}},
        {"path": "/etc/passwd", "note": '"path":"/tmp/a"'},
        {"options": {"path": "/tmp/a"}},
        {"path": {"path": "/tmp/a"}},
        {"path": ["/tmp/a"]},
        {"path": "/tmp/a\n/etc/passwd"},
        {"path": "x/tmp/a"},
        {"path": "/tmp/a/../../etc"},
        {"path": "/tmp/a\x00"},
        {"path\x00": "/tmp/a"},
        {"Path": "/tmp/a"},
    ],
)
def test_argument_pattern_cannot_be_faked(args: dict[str, object]) -> None:
    policy = Policy([ALLOW_TMP])
    assert policy.decide(PolicyCall(tool="write", kind=Kind.Write, args=args)).action == "ask"
    genuine = PolicyCall(tool="write", kind=Kind.Write, args={"path": "/tmp/a"})
    assert policy.decide(genuine).action == "allow"


def test_pattern_cannot_break_out_of_its_anchors_or_run_forever() -> None:
    with pytest.raises(ConfigError, match="Invalid pattern"):
        PolicyRule(action="allow", arguments={"path": "/tmp/a)|(?:.*"})
    with pytest.raises(ConfigError, match="Invalid pattern"):
        PolicyRule(action="allow", arguments={"path": "(?!x).*"})
    slow = PolicyRule(action="deny", arguments={"path": "(a+)+"})
    assert slow.find_argument_mismatch(PolicyCall(tool="x", args={"path": "a" * 50_000 + "b"})) is not None


def test_numbers_and_objects_are_matched_by_their_canonical_json() -> None:
    rule = PolicyRule(action="deny", arguments={"count": r"\d{3,}", "filter": r'\{"a":1,"b":.*\}'})
    assert (
        rule.find_argument_mismatch(PolicyCall(tool="x", args={"count": 1000, "filter": {"b": [2], "a": 1}}))
        is None
    )
    assert (
        rule.find_argument_mismatch(PolicyCall(tool="x", args={"count": 99, "filter": {"b": [2], "a": 1}}))
        is not None
    )


def make_call(**changes: object) -> PolicyCall:
    fields = {
        "tool": "write",
        "kind": Kind.Write,
        "args": {"path": "/tmp/a", "text": "grüß 'Gott'\x7f\n"},
        "agent_path": ("main",),
        "owner": "ann",
        "run_path": ("run-1",),
    }
    return PolicyCall(**{**fields, **changes})  # pyright: ignore[reportArgumentType]


def test_remembered_answer_allows_the_very_call_and_no_other() -> None:
    policy = Policy()
    policy.remember(make_call(), "always")
    assert policy.decide(make_call()).action == "allow"
    assert policy.decide(make_call(run_path=("run-2",), mode="auto")).action == "allow"
    for other in (
        {"args": {"path": "/tmp/a", "text": "other"}},
        {"args": {**make_call().args, "force": True}},
        {"tool": "write2"},
        {"agent_path": ("main", "scout")},
        {"owner": "bob"},
        {"mode": "plan"},
    ):
        assert policy.decide(make_call(**other)).action != "allow", other


def test_answer_for_a_run_ends_with_the_run() -> None:
    policy = Policy()
    policy.remember(make_call(run_path=("run-1", "child")), "run")
    assert policy.decide(make_call(run_path=("run-1",))).action == "allow"
    assert policy.decide(make_call(run_path=("run-2",))).action == "ask"


def test_answer_for_a_run_is_not_kept_where_there_is_none() -> None:
    policy = Policy()
    assert policy.remember(make_call(run_path=()), "run") is None
    assert policy.decide(make_call(run_path=())).action == "ask"


def test_answers_for_runs_do_not_pile_up() -> None:
    policy = Policy()
    before = len(policy.rules)
    for number in range(550):
        policy.remember(make_call(run_path=(f"run-{number}",)), "run")
    assert len(policy.rules) == before + 500
    assert policy.decide(make_call(run_path=("run-549",))).action == "allow"


def test_remembered_answer_survives_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "remembered.toml"
    Policy(store=RememberedRules(path)).remember(make_call(), "always")
    again = Policy(store=RememberedRules(path))
    assert again.decide(make_call()).action == "allow"
    assert again.decide(make_call(owner="bob")).action == "ask"
    assert again.remember(make_call(), "always") is None
    assert path.read_text().count("[[rule]]") == 1


def test_remembered_answer_is_shown_with_the_rule_that_asked() -> None:
    policy = Policy([PolicyRule(action="ask", tool="write", priority=7)])
    policy.remember(make_call(), "always")
    assert policy.decide(make_call()).action == "allow"
    policy.add(PolicyRule(action="deny", tool="write", priority=7))
    assert policy.decide(make_call()).action == "deny"


def test_glob_characters_in_a_tool_name_are_remembered_literally() -> None:
    policy = Policy()
    policy.remember(make_call(tool="write*"), "always")
    assert policy.decide(make_call(tool="write*")).action == "allow"
    assert policy.decide(make_call(tool="write-all")).action == "ask"


def test_explanation_names_the_rule_that_decides_and_why_others_do_not() -> None:
    policy = Policy([ALLOW_TMP, PolicyRule(name="no shell", action="deny", tool="shell", priority=9)])
    text = str(policy.explain(PolicyCall(tool="write", kind=Kind.Write, args={"path": "/etc"})))
    assert text.splitlines()[0] == "ask: it may change something outside"
    assert "9 no shell (code): tool 'write' is not 'shell'" in text
    assert "5 allow write (code): argument 'path' does not match" in text
    assert text.splitlines()[-1].endswith("tools that change something (built-in): decides")


def test_answer_that_a_deny_rule_would_overrule_is_not_kept(caplog: pytest.LogCaptureFixture) -> None:
    policy = Policy([PolicyRule(name="never", action="deny", tool="write")])
    assert policy.remember(make_call(), "always") is None
    assert "'never' decides 'write' before any remembered answer" in caplog.text
    assert policy.decide(make_call()).action == "deny"
