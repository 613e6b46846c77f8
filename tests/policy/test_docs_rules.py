"""The rules that the documentation recommends hold against what an attacker would try."""

import json
import re
from pathlib import Path

import pytest

from dovetail.events.call import Kind
from dovetail.policy.file import PolicyFile
from dovetail.policy.policy import Policy
from dovetail.policy.rule import Mode, PolicyCall

PAGE = Path(__file__).parent.parent.parent / "docs" / "policy.md"


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    """All rules of the page in one file, in a workspace with a hostile repository in it."""
    text = PAGE.read_text()
    rules = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(rules) >= 2
    (tmp_path / "policy.toml").write_text("\n".join(rules))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "rules.md").symlink_to("../policy.toml")
    file = PolicyFile(tmp_path / "policy.toml")
    policy = Policy(sources=[file], root=tmp_path)
    assert file.problem is None
    return policy


@pytest.mark.parametrize(
    "args",
    [
        {"command": "git log -1 --format=[[rule]]%n'action=\"allow\"' --output=policy.toml"},
        {"command": "git status", "cwd": "sub"},
        {"command": "git -c core.fsmonitor=id status"},
        {"command": "git log --ext-diff"},
        {"command": "df -h", "cwd": "sub"},
        {"command": "df -h --output=policy.toml"},
        {"command": "df -h; id"},
        {"command": "df -h\nid"},
        {"command": "./df -h"},
        {"command": "id"},
    ],
)
@pytest.mark.parametrize("mode", ["default", "auto"])
def test_no_other_program_runs_unasked(policy: Policy, args: dict[str, str], mode: Mode) -> None:
    call = PolicyCall(tool="run_shell_command", kind=Kind.Execute, args=args, mode=mode)
    assert policy.decide(call).action == "ask"


def test_what_is_allowed_is_allowed(policy: Policy) -> None:
    df = PolicyCall(tool="run_shell_command", kind=Kind.Execute, args={"command": "df -h"})
    assert policy.decide(df).action == "allow"
    note = PolicyCall(tool="write_file", kind=Kind.Write, args={"path": "notes/today.md", "content": "x"})
    assert policy.decide(note).action == "allow"


@pytest.mark.parametrize(
    "path",
    ["notes/../policy.toml", "notes/rules.md", "notes/a/../../policy.md", "/notes/a.md", "notes/a.md/x"],
)
def test_notes_lead_nowhere_else(policy: Policy, path: str) -> None:
    call = PolicyCall(tool="write_file", kind=Kind.Write, args={"path": path, "content": "x"})
    assert policy.decide(call).action == "ask"


@pytest.mark.parametrize(
    ("url", "action"),
    [
        ("https://docs.python.org/3/library/os.html", "allow"),
        ("https://stranger.example/?q=secret", "ask"),
        ("https://docs.python.org@stranger.example/", "ask"),
        ("https://docs.python.org.stranger.example/", "ask"),
        ("https://stranger.example/https://docs.python.org/", "ask"),
        ("http://docs.python.org/", "ask"),
    ],
)
def test_only_known_hosts_are_fetched_unasked(policy: Policy, url: str, action: str) -> None:
    call = PolicyCall(tool="fetch_url", kind=Kind.Fetch, args={"url": url})
    assert policy.decide(call).action == action


def test_the_exact_arguments_are_written_as_the_policy_writes_them() -> None:
    for text in re.findall(r"exact\s*=\s*'(.*?)'", PAGE.read_text()):
        assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) == text
