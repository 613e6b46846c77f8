"""The names that completion offers, for an agent and for its result."""

import pytest

from dovetail import Agent
from dovetail.agent import ChatSessionExtension
from dovetail.agent.arguments import UNLISTED
from dovetail.events import RunResult
from dovetail.testing import ScriptedRequester

USUAL = {"start", "run", "run_stream", "chat", "returns", "input", "output", "tools", "model", "use_tools"}


def list_public(value: object) -> set[str]:
    return {name for name in dir(value) if not name.startswith("_")}


@pytest.mark.parametrize("agent", [Agent, Agent("clerk")], ids=["class", "instance"])
def test_agent_lists_at_most_55_names_and_none_that_keep_it_running(agent: object) -> None:
    listed = list_public(agent)
    assert len(listed) <= 55
    assert listed >= USUAL
    assert not listed & UNLISTED


def test_names_that_are_not_listed_still_work() -> None:
    agent = Agent("clerk", model=ScriptedRequester([]))
    assert [name for name in sorted(UNLISTED) if not hasattr(agent, name)] == []


def test_class_with_an_extension_lists_what_the_extension_adds() -> None:
    kind = type("Chatter", (ChatSessionExtension, Agent), {})
    assert list_public(kind) - list_public(Agent) >= {"activate_chat_session", "stop_chat_session"}


def test_result_lists_each_answer_under_one_name() -> None:
    listed = list_public(RunResult(text="Oak."))
    assert listed >= {"text", "data", "reason", "messages"}
    assert not listed & {"result", "terminate_reason"}
    assert RunResult(text="Oak.").result == "Oak."
