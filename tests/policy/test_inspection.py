"""The policy as data: rules with their places, decisions rule by rule, nothing of other owners."""

from pathlib import Path

from dovetail.events.call import Kind
from dovetail.policy.inspection import describe_decision, describe_policy
from dovetail.policy.remembered import open_policy
from dovetail.policy.rule import PolicyCall

RULES = """
[[rule]]
action = "deny"
tool = "shell"
arguments = { command = "rm .*" }
priority = 5

[[rule]]
action = "allow"
tool = "shell"
agent = "scout"

[[rule]]
action = "ask"
kind = "read"
modes = "plan"
"""


def test_rules_come_in_their_order_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(RULES)
    further = tmp_path / "extensions" / "disk" / "policy.toml"
    further.parent.mkdir(parents=True)
    further.write_text('[[rule]]\naction = "ask"\ntool = "disk"\n')
    policy = open_policy(tmp_path, lambda: [further])
    rules = describe_policy(policy, "ann", tmp_path)
    places = [(rule["source"], rule["path"], rule["line"]) for rule in rules]
    assert places[0] == ("workspace", "policy.toml", 2)
    assert ("extension", "extensions/disk/policy.toml", 1) in places
    assert places[-1] == ("built-in", None, None)
    assert rules[0]["arguments"] == {"command": "rm .*"}


def test_a_decision_names_the_condition_of_every_rule_before_it(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(RULES)
    policy = open_policy(tmp_path, list)
    call = PolicyCall(tool="shell", kind=Kind.Execute, args={"command": "ls"}, agent_path=("main",))
    found = describe_decision(policy, call, tmp_path)
    assert (found["action"], found["rule"]["source"]) == ("ask", "built-in")
    conditions = [step["condition"] for step in found["steps"]]
    assert conditions == ["arguments", "kind", "agent", "kind", "mode", "mode", "kind", "kind", None]
    assert found["steps"][0]["mismatch"] == "argument 'command' does not match 'rm .*'"


def test_what_others_have_allowed_is_not_shown(tmp_path: Path) -> None:
    policy = open_policy(tmp_path, list)
    asked = PolicyCall(tool="shell", kind=Kind.Execute, args={"command": "secret"}, owner="ann")
    assert policy.remember(asked, "always") is not None
    in_run = PolicyCall(tool="shell", kind=Kind.Execute, run_path=("run_1",), owner="ann")
    assert policy.remember(in_run, "run") is not None
    assert "secret" in str(describe_policy(policy, "ann", tmp_path))
    assert "secret" in str(describe_policy(policy, None, tmp_path))
    assert "secret" not in str(describe_policy(policy, "bob", tmp_path))
    assert "in this run" not in str(describe_policy(policy, "ann", tmp_path))
    theirs = PolicyCall(tool="shell", kind=Kind.Execute, args={"command": "x"}, owner="bob")
    assert "secret" not in str(describe_decision(policy, theirs, tmp_path))


def test_what_was_allowed_is_shown_without_the_secrets_in_it(tmp_path: Path) -> None:
    policy = open_policy(tmp_path, list)
    asked = PolicyCall(
        tool="login", kind=Kind.Execute, args={"user": "ann", "password": "hunter22"}, owner="ann"
    )
    assert policy.remember(asked, "always") is not None
    other = PolicyCall(tool="login", kind=Kind.Execute, args={"user": "bob"}, owner="ann")
    rules = describe_policy(policy, "ann", tmp_path)
    assert '{"password":"*** (secret 1, 8 characters)","user":"ann"}' in [rule["exact"] for rule in rules]
    assert "hunter22" not in f"{rules} {describe_decision(policy, other, tmp_path)} {policy.explain(other)}"
    assert policy.decide(asked).action == "allow"
