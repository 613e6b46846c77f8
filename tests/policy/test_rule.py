"""No other way to write a path, and no default, gets around a rule."""

import os
from pathlib import Path
from typing import Any

import pytest

from dovetail.events.call import Kind
from dovetail.policy.policy import Policy
from dovetail.policy.rule import Action, PolicyCall, PolicyRule


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a secret, and links to it."""
    root = tmp_path / "workspace"
    (root / "secrets").mkdir(parents=True)
    (root / "secrets" / "key.txt").write_text("key")
    (root / "docs").mkdir()
    (root / "docs" / "link.txt").symlink_to("../secrets/key.txt")
    (root / "shortcut").symlink_to("secrets")
    return root


def decide(root: Path, action: Action, pattern: str, path: Any, default: str | None = None) -> str:
    """What a policy with one rule says of reading a path; without it the reading would be another thing."""
    fallback: Action = "deny" if action == "allow" else "allow"
    rules = [
        PolicyRule(action=action, tool="read_file", arguments={"path": pattern}, priority=1),
        PolicyRule(action=fallback, tool="read_file"),
    ]
    args = {} if path is ... else {"path": path}
    defaults = {"path": default}
    call = PolicyCall(tool="read_file", kind=Kind.Read, args=args, defaults=defaults)
    return Policy(rules, root=root).decide(call).action


WAYS = [
    "secrets/key.txt",
    "./secrets/key.txt",
    "docs/../secrets/key.txt",
    "secrets//key.txt",
    "secrets/./key.txt",
    "nowhere/../secrets/key.txt",
    "x://../secrets/key.txt",
    "docs/link.txt",
    "shortcut/key.txt",
    "shortcut/new.txt",
    "secrets",
    "secrets/",
    "../workspace/secrets/key.txt",
]


@pytest.mark.parametrize("path", WAYS)
@pytest.mark.parametrize("action", ["deny", "ask"])
def test_every_way_to_write_a_forbidden_path_is_forbidden(root: Path, path: str, action: Action) -> None:
    assert decide(root, action, "secrets/.*", path) == action
    assert decide(root, action, "secrets/.*", str(root / path)) == action


def test_an_absolute_rule_speaks_of_relative_paths(root: Path) -> None:
    (root / "out").symlink_to("/etc")
    assert decide(root, "deny", "/etc/.*", os.path.relpath("/etc/passwd", root)) == "deny"
    assert decide(root, "deny", "/etc/.*", "out/passwd") == "deny"


@pytest.mark.parametrize(
    "path", ["docs/a.md", "secretsx/key.txt", "my/secrets/key.txt", "", None, 5, "x" * 9000]
)
def test_other_paths_are_not_forbidden(root: Path, path: Any) -> None:
    assert decide(root, "deny", "secrets/.*", path) == "allow"


@pytest.mark.parametrize("path", [..., "", None, ".", "./", "docs/.."])
def test_a_forbidden_default_is_not_reachable_by_omitting_it(root: Path, path: Any) -> None:
    assert decide(root, "deny", r"\.", path, default=".") == "deny"


@pytest.mark.parametrize("path", [..., "", None])
def test_an_empty_value_stands_for_its_default(root: Path, path: Any) -> None:
    assert decide(root, "deny", "secrets/.*", path, default="secrets") == "deny"
    assert decide(root, "deny", r"\.", path) == "deny"  # no default is known: it may be the workspace


@pytest.mark.parametrize(
    ("path", "action"),
    [
        ("docs/a.md", "allow"),
        ("docs/link.txt", "deny"),
        ("docs/../secrets/key.txt", "deny"),
        ("docs/../docs/a.md", "allow"),
        ("./docs/a.md", "deny"),
        (..., "deny"),
    ],
)
def test_an_allowed_path_must_lead_to_an_allowed_place(root: Path, path: Any, action: str) -> None:
    assert decide(root, "allow", "docs/.*", path) == action


@pytest.mark.parametrize(
    "value", ["./run.sh", "pytest tests/", "https://docs.example/a//b", "ls -la /x", "a\nb"]
)
def test_texts_that_are_not_paths_are_allowed_as_they_are(root: Path, value: str) -> None:
    assert decide(root, "allow", ".*", value) == "allow"
    assert decide(root, "allow", value.replace(".", r"\."), value) == "allow"


def test_a_default_is_allowed_like_the_value_itself(root: Path) -> None:
    assert decide(root, "allow", "docs", ..., default="docs") == "allow"
    assert decide(root, "allow", "docs", None, default="docs") == "allow"


def test_a_rule_over_an_argument_leaves_tools_alone_that_lack_it(root: Path) -> None:
    policy = Policy([PolicyRule(action="deny", arguments={"path": ".*"})], root=root)
    assert policy.decide(PolicyCall(tool="clock", kind=Kind.Read, defaults={"zone": None})).action == "allow"
