"""Policy files are TOML; an invalid one keeps its last valid rules and names the line."""

import re
from pathlib import Path

import pytest

from dovetail.errors import ConfigError, ConflictError, NotFoundError
from dovetail.events.call import Kind
from dovetail.policy.file import PolicyEditor, PolicyFile
from dovetail.policy.policy import Policy
from dovetail.policy.rule import Mode, PolicyCall, PolicyRule
from dovetail.policy.rule_text import identify_rule

GOOD = """
# what the shop allows
[[rule]]
name = "look at the repository"
tool = ["shell", "run_*"]
kind = "execute"
arguments = { command = "git status" }
action = "allow"

[[rule]]
tool = "deploy"
modes = ["default", "auto", "yolo"]
agent = "main"
priority = 100
action = "deny"
reason = "deployments are made by people"
"""

STATUS = PolicyCall(tool="shell", kind=Kind.Execute, args={"command": "git status"})


def test_rules_of_a_file_decide(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(GOOD)
    policy = Policy(sources=[PolicyFile(path)])
    decision = policy.decide(STATUS)
    assert (decision.action, decision.rule.name) == ("allow", "look at the repository")
    assert decision.rule.source == f"{path}:3"
    other = PolicyCall(tool="run_it", kind=Kind.Execute, args={"command": "git push"})
    assert policy.decide(other).action == "ask"
    deploy = PolicyCall(tool="deploy", agent_path=("main",), mode="yolo")
    assert policy.decide(deploy).reason == "deployments are made by people"


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        ('[[rule]]\naction = "allow"\n[[rule]]\naction = allow\n', r"policy.toml:4: "),
        (
            '[[rule]]\naction = "allow"\n\n[[rule]]\naction = "permit"\n',
            r"policy.toml:4: Unknown action 'permit'",
        ),
        ('[[rule]]\ntool = "x"\n', r"policy.toml:1: missing `action`"),
        (
            '[[rule]]\naction = "ask"\ntol = "x"\n',
            r"policy.toml:1: Unknown field 'tol'. Did you mean 'tool'\?",
        ),
        ('[[rule]]\nactoin = "ask"\n', r"policy.toml:1: Unknown field 'actoin'. Did you mean 'action'\?"),
        ('[[rule]]\nzzz = "ask"\n', r"policy.toml:1: Unknown field 'zzz'. Expected one of: action, agent"),
        (
            '[[rule]]\naction = "ask"\nkind = "cut"\n',
            r"policy.toml:1: Unknown kind 'cut'. Expected one of: read",
        ),
        ('[[rule]]\naction = "ask"\nkind = 5\n', r"policy.toml:1: `kind` must be a text or a list of texts"),
        ('[[rule]]\naction = "ask"\ntool = { x = 1 }\n', r"policy.toml:1: `tool` must be a text or a list"),
        ('[[rule]]\naction = "ask"\nmodes = ["fast"]\n', r"policy.toml:1: Unknown mode 'fast'"),
        ('[[rule]]\naction = "ask"\narguments = { a = "((" }\n', r"policy.toml:1: Invalid pattern '\(\('"),
        ('[[rule]]\naction = "ask"\narguments = "a"\n', r"policy.toml:1: `arguments` must be a table"),
        ('[[rule]]\naction = "ask"\npriority = 1000\n', r"policy.toml:1: `priority` must be"),
        ('[[rule]]\naction = "ask"\nagent = 3\n', r"policy.toml:1: `agent` must be a text"),
        ('[[rules]]\naction = "deny"\n', r"policy.toml: unknown key 'rules'\nRules are written as"),
        ('mode = "auto"\n[[rule]]\naction = "deny"\n', r"policy.toml: unknown key 'mode'"),
        (
            '[[rule]]\naction = "deny"\narguments = ' + "[" * 5000,
            r"policy.toml: a value is nested too deeply",
        ),
        ("a" + ".a" * 5000 + " = 1", r"policy.toml: a key is nested too deeply"),
        ('[[rule]]\naction = "deny"\n' * 5001, r"policy.toml has more than 5000 rules"),
        ('[[rule]]\naction = "deny"\n' * 50_000, r"policy.toml has more than 1000000 bytes"),
        ('[rule]\naction = "ask"\n', r"policy.toml: `rule` must be written as \[\[rule\]\]"),
    ],
)
def test_broken_file_keeps_the_last_good_rules_and_says_the_line(
    tmp_path: Path, broken: str, complaint: str
) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(GOOD)
    file = PolicyFile(path)
    policy = Policy(sources=[file])
    path.write_text(broken)
    policy.reload()
    assert policy.decide(STATUS).action == "allow"
    assert re.search(complaint, file.problem or "")
    path.write_text("")
    policy.reload()
    assert file.problem is None
    assert policy.decide(STATUS).action == "ask"


def test_file_with_a_long_word_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(f'[[rule]]\naction = "deny"\nreason = "{"a" * 500_000}"\n')
    file = PolicyFile(path)
    assert [len(rule.reason) for rule in file.load()] == [500_000]
    assert file.problem is None


def test_file_of_an_extension_folder_may_forbid_but_not_allow(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('[[rule]]\ntool = "shell"\naction = "allow"\n')
    file = PolicyFile(path, may_allow=False)
    assert file.load() == []
    assert "may deny and ask, but not allow" in (file.problem or "")
    path.write_text('[[rule]]\ntool = "shell"\naction = "deny"\n')
    assert [rule.action for rule in file.load()] == ["deny"]


def test_missing_file_has_no_rules(tmp_path: Path) -> None:
    file = PolicyFile(tmp_path / "policy.toml")
    assert file.load() == []
    assert file.problem is None


@pytest.mark.parametrize(
    ("kind", "mode", "action"),
    [
        (Kind.Read, "default", "ask"),
        (Kind.Other, "yolo", "ask"),
        (Kind.Read, "plan", "ask"),
        (Kind.Write, "plan", "deny"),
    ],
)
def test_a_file_that_was_never_good_makes_every_call_a_question(
    tmp_path: Path, kind: Kind, mode: Mode, action: str
) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('[[rule]]\ntol = "read_file"\naction = "deny"\n')
    policy = Policy(sources=[PolicyFile(path)])
    call = PolicyCall(tool="read_file", kind=kind, mode=mode)
    assert policy.decide(call).action == action
    path.write_text("")
    policy.reload()
    assert policy.decide(call).rule.source == "built-in"


def test_the_question_says_what_is_wrong_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_bytes(b"\xff")
    policy = Policy(sources=[PolicyFile(tmp_path / "policy.toml")])
    reason = policy.decide(PolicyCall(tool="read_file", kind=Kind.Read)).reason
    assert "the policy has an error" in reason
    assert "policy.toml: cannot be read" in reason


@pytest.mark.parametrize("what", ["dangling link", "loop", "folder", "[[rules]]"])
def test_a_file_that_is_none_fails_closed(tmp_path: Path, what: str) -> None:
    path = tmp_path / "policy.toml"
    match what:
        case "dangling link":
            path.symlink_to(tmp_path / "gone.toml")
        case "loop":
            path.symlink_to(path)
        case "folder":
            path.mkdir()
        case _:
            path.write_text('[[rules]]\ntool = "read_file"\naction = "deny"\n')
    policy = Policy(sources=[PolicyFile(path)])
    assert policy.decide(PolicyCall(tool="read_file", kind=Kind.Read)).action == "ask"
    [problem] = policy.problems
    assert str(path) in problem.error
    assert not problem.keeps_last_good


def test_a_rule_that_names_no_tool_is_noticed_with_the_near_name(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('[[rule]]\ntool = ["run_shel_command", "run_*", "write_file"]\naction = "deny"\n')
    policy = Policy(sources=[PolicyFile(path)])
    assert policy.find_unknown_tools(["run_shell_command", "write_file"]) == [
        f"{path}:1: Unknown tool 'run_shel_command'. Did you mean 'run_shell_command'?"
    ]


EDITED = '# Ours.\n[[rule]]\naction = "deny"\ntool = "drop"'


def test_a_text_is_written_and_read_back(tmp_path: Path) -> None:
    editor = PolicyEditor(tmp_path / "policy.toml")
    empty = editor.read()
    assert empty.text == ""
    written = editor.write(EDITED, empty.version)
    assert (tmp_path / "policy.toml").read_text() == EDITED == written.text
    assert written.version != empty.version
    assert [path.name for path in tmp_path.iterdir()] == ["policy.toml"]


def test_an_invalid_text_is_refused_with_its_line_and_leaves_the_file(tmp_path: Path) -> None:
    editor = PolicyEditor(tmp_path / "policy.toml")
    version = editor.write(EDITED).version
    with pytest.raises(ConfigError, match=r"^policy\.toml:5.*'forbid'"):
        editor.write(EDITED + '\n[[rule]]\naction = "forbid"\n', version)
    with pytest.raises(ConfigError, match=r"^policy\.toml:1: "):
        editor.write("[[rule\n", version)
    assert (tmp_path / "policy.toml").read_text() == EDITED


def test_a_change_to_an_older_text_is_a_conflict(tmp_path: Path) -> None:
    editor = PolicyEditor(tmp_path / "policy.toml")
    version = editor.write(EDITED).version
    (tmp_path / "policy.toml").write_text("# By hand.\n")
    with pytest.raises(ConflictError, match="has changed since"):
        editor.write("", version)
    assert (tmp_path / "policy.toml").read_text() == "# By hand.\n"


def test_a_rule_is_added_after_what_is_there(tmp_path: Path) -> None:
    editor = PolicyEditor(tmp_path / "policy.toml")
    editor.write(EDITED)
    rule = PolicyRule(action="allow", tool="shell", arguments={"command": "git status.*"}, modes=("auto",))
    text = editor.add(rule).text
    assert text.startswith(EDITED)
    denied, allowed = PolicyFile(tmp_path / "policy.toml").read()
    assert (denied.tool, allowed.tool, allowed.arguments) == ("drop", "shell", {"command": "git status.*"})
    assert allowed.modes == ("auto",)


COMMENTED = """# Head.

# No drops.
[[rule]]
action = "deny"  # never
tool = ["drop", "cut"]
# priority = 4

# Notes are free.
[[rule]]
action = "allow"
tool = "note"
reason = '''
# no comment
'''
[rule.arguments]
path = "notes/.*"
[[rule]]
action = "ask"

# Tail.
"""


@pytest.mark.parametrize(
    ("tool", "cut"),
    [
        ("cut", COMMENTED[COMMENTED.index("[[rule]]") : COMMENTED.index("\n# Notes")]),
        (
            "note",
            COMMENTED[
                COMMENTED.index('[[rule]]\naction = "allow"') : COMMENTED.index('[[rule]]\naction = "ask"')
            ],
        ),
    ],
)
def test_a_rule_is_removed_and_the_comments_of_others_stay(tmp_path: Path, tool: str, cut: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(COMMENTED)
    (rule, *_) = [rule for rule in PolicyFile(path).read() if rule.tool == tool]
    text = PolicyEditor(path).remove(identify_rule(rule) or "").text
    gap = "\n" if tool == "note" else ""
    assert text == COMMENTED.replace(cut, gap) == path.read_text()


def test_rules_are_removed_until_none_is_left(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(COMMENTED)
    while rules := PolicyFile(path).read():
        PolicyEditor(path).remove(identify_rule(rules[0]) or "")
    assert path.read_text() == "# Head.\n\n# No drops.\n\n# Notes are free.\n\n# Tail.\n"


def test_a_rule_that_was_changed_in_the_meantime_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(EDITED)
    (rule,) = PolicyFile(path).read()
    path.write_text(EDITED.replace("drop", "keep"))
    with pytest.raises(NotFoundError, match=r"not found in policy\.toml"):
        PolicyEditor(path).remove(identify_rule(rule) or "")
    assert PolicyFile(path).read()[0].tool == "keep"


def test_a_rule_without_a_heading_of_its_own_has_no_id(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('rule = [{ action = "deny", tool = "drop" }]\n')
    (rule,) = PolicyFile(path).read()
    assert identify_rule(rule) is None


def test_the_file_behind_a_link_is_changed_and_keeps_its_rights(tmp_path: Path) -> None:
    real = tmp_path / "shared" / "rules.toml"
    real.parent.mkdir()
    real.write_text("")
    real.chmod(0o600)
    (tmp_path / "policy.toml").symlink_to(real)
    PolicyEditor(tmp_path / "policy.toml").write(EDITED)
    assert real.read_text() == EDITED
    assert real.stat().st_mode & 0o777 == 0o600
