"""`dovetail policy` finds every mistake in the rules, and shows them in their order."""

import json
from pathlib import Path

import pytest

from command_line import run
from dovetail.events.call import Kind
from dovetail.policy.remembered import open_policy
from dovetail.policy.rule import PolicyCall

WRONG = """[[rule]]
tool = "calculat"
action = "ask"

[[rule]]
action = "permit"

[[rule]]
tol = "x"
action = "ask"
"""


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace, which is the current folder."""
    monkeypatch.delenv("WORKSPACE_ROOT", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_problems_are_reported_with_their_lines(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "policy.toml").write_text(WRONG)
    assert run("policy", "check") == 1
    shown = capsys.readouterr()
    assert shown.out.splitlines() == [
        "broken policy.toml:5: Unknown action 'permit'. Expected one of: allow, deny, ask.",
        "broken policy.toml:8: Unknown field 'tol'. Did you mean 'tool'?",
    ]
    assert shown.err == ""
    assert run("policy", "check", "policy.toml", "--json") == 1
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert [(each["path"], each["line"]) for each in problems] == [("policy.toml", 5), ("policy.toml", 8)]
    (workspace / "policy.toml").write_text("[[rule]\n")
    assert run("policy", "check") == 1
    assert capsys.readouterr().out.startswith("broken policy.toml:1: ")


def test_rules_that_can_never_match_are_noticed(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "policy.toml").write_text(
        '[[rule]]\ntool = "calculat"\naction = "ask"\n'
        '[[rule]]\ntool = "get_weather"\narguments = { town = "Bern" }\naction = "deny"\n'
        '[[rule]]\ntool = ["*_file", "list_files"]\naction = "deny"\n'
        '[[rule]]\nagent = "mastr/*"\naction = "deny"\n[[rule]]\nagent = "*/m*ster"\naction = "deny"\n'
    )
    assert run("policy", "check") == 0
    assert capsys.readouterr().out.splitlines() == [
        "notice policy.toml:1: Unknown tool 'calculat'. Did you mean 'calculate'?",
        "notice policy.toml:11: Unknown agent 'mastr'. Did you mean 'master'?",
        "notice policy.toml:4: Tool 'get_weather': Unknown argument 'town'. Expected one of: city, unit.",
        "ok     policy.toml: 5 rules",
    ]


def test_rules_of_an_extension_folder_are_checked_even_if_it_cannot_be_loaded(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = workspace / "extensions" / "shop" / "policy.toml"
    path.parent.mkdir(parents=True)
    path.write_text('[[rule]]\naction = "allow"\n')
    for arguments in ([], ["extensions/shop/policy.toml"]):
        assert run("policy", "check", *arguments) == 1
        shown = capsys.readouterr().out
        assert "extensions/shop/policy.toml:1: an extension folder may deny and ask, but not allow" in shown


def test_a_workspace_without_rules_is_sound_and_a_missing_file_is_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("policy", "check") == 0
    assert "only the built-in rules apply" in capsys.readouterr().out
    assert run("policy", "check", "nowhere.toml") == 1
    assert "Policy file not found: nowhere.toml" in capsys.readouterr().err


def test_rules_are_listed_in_the_order_in_which_they_are_tried(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "policy.toml").write_text(
        '[[rule]]\nname = "late"\ntool = "calculate"\naction = "allow"\n'
        '[[rule]]\nname = "early"\ntool = "calculate"\nmodes = ["plan"]\npriority = 5\naction = "deny"\n'
    )
    assert run("policy", "list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "    5  deny   early: calculate; mode plan  (policy.toml:5)"
    assert "    0  allow  late: calculate  (policy.toml:1)" in lines
    assert lines[-1].startswith("-1000  ask    tools that change something: any tool  (built-in)")
    assert run("policy", "list", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "early"


def test_what_was_always_allowed_is_listed_and_taken_back(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("policy", "remembered") == 0
    assert capsys.readouterr().out == "Nothing is always allowed.\n"
    policy = open_policy(workspace, list)
    call = PolicyCall(tool="write_file", kind=Kind.Write, args={"path": "notes.txt"}, owner="ann")
    rule = policy.remember(call, "always")
    assert rule is not None
    assert rule.grant is not None
    assert run("policy", "remembered") == 0
    listed, hint = capsys.readouterr().out.splitlines()
    assert listed.startswith(f"{rule.grant.id}  write_file notes.txt  (ann, ")
    assert hint == "Take one back with: dovetail policy forget ID"
    assert run("policy", "forget", rule.grant.id) == 0
    assert capsys.readouterr().out == "Taken back: write_file notes.txt\n"
    assert policy.decide(call).action == "ask"
    assert run("policy", "remembered", "--json") == 0
    [shown] = json.loads(capsys.readouterr().out)["rules"]
    assert (shown["id"], shown["args"], shown["undone_at"][-1]) == (rule.grant.id, {"path": "notes.txt"}, "Z")
    assert run("policy", "forget", "rule_x") == 1
    assert "Remembered answer 'rule_x' not found." in capsys.readouterr().err
