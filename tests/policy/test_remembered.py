"""Answers that are always remembered: listed, taken back, and shared by processes."""

from pathlib import Path

import pytest

from dovetail.errors import NotFoundError
from dovetail.events.call import Kind
from dovetail.policy.policy import Policy
from dovetail.policy.remembered import RememberedRules
from dovetail.policy.rule import PolicyCall

CALL = PolicyCall(
    tool="write", kind=Kind.Write, args={"path": "a"}, agent_path=("main",), owner="ann", session_id="s1"
)


def test_an_answer_that_is_taken_back_asks_again_and_stays_in_the_history(tmp_path: Path) -> None:
    rules = RememberedRules(tmp_path / "remembered.toml")
    policy = Policy(store=rules)
    policy.remember(CALL, "always")
    [rule] = rules.list_all()
    assert rule.grant is not None
    assert (rule.owner, rule.grant.session_id, rule.grant.undone_at) == ("ann", "s1", None)
    rules.undo(rule.grant.id)
    assert policy.decide(CALL).action == "ask"
    [kept] = rules.list_all()
    assert kept.grant is not None
    assert kept.grant.undone_at is not None
    assert kept.grant.given_at == rule.grant.given_at
    policy.remember(CALL, "always")
    assert policy.decide(CALL).action == "allow"
    assert len(rules.list_all()) == 2


def test_another_process_follows_an_answer_and_its_undoing_without_a_reload(tmp_path: Path) -> None:
    path = tmp_path / "remembered.toml"
    here, there = Policy(store=RememberedRules(path)), Policy(store=RememberedRules(path))
    here.remember(CALL, "always")
    assert there.decide(CALL).action == "allow"
    [rule] = RememberedRules(path).list_all()
    assert rule.grant is not None
    RememberedRules(path).undo(rule.grant.id)
    assert here.decide(CALL).action == there.decide(CALL).action == "ask"


def test_an_answer_from_a_file_without_ids_can_be_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "remembered.toml"
    path.write_text('[[rule]]\naction = "allow"\ntool = "write"\npriority = -1000\n')
    rules = RememberedRules(path)
    policy = Policy(store=rules)
    assert policy.decide(CALL).action == "allow"
    [rule] = rules.list_all()
    assert rule.grant is not None
    rules.undo(rule.grant.id)
    assert policy.decide(CALL).action == "ask"
    assert [one.grant.id for one in rules.list_all() if one.grant] == [rule.grant.id]


def test_an_unknown_answer_cannot_be_taken_back(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="'rule_x' not found"):
        RememberedRules(tmp_path / "remembered.toml").undo("rule_x")
