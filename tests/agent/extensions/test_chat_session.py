"""Conversations that are remembered: several sessions, parts of turns, stores and budgets."""

from pathlib import Path
from typing import Any

import pytest

from dovetail import Agent
from dovetail.agent.extensions import ChatSessionExtension, FolderChatStore
from dovetail.errors import ConfigError, ModelError
from dovetail.testing import Reply, ScriptedRequester


class Chatter(ChatSessionExtension, Agent):
    """An agent that remembers."""


def make_agent(*replies: Any, **settings: Any) -> tuple[Chatter, ScriptedRequester]:
    requester = ScriptedRequester(replies)
    return Chatter(requester=requester, settings=settings), requester


def contents(requester: ScriptedRequester) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in requester.requests[-1].messages]


def recorded(agent: Chatter) -> list[tuple[str, Any]]:
    history = agent.agent_prompt.get("chat_history") or []
    return [(message["role"], message["content"]) for message in history]


def test_turns_are_told_again_in_the_next_request() -> None:
    agent, requester = make_agent("Hi Ann.", "Your name is Ann.")
    agent.activate_chat_session()
    agent.input("I am Ann.").start()
    agent.input("Who am I?").start()
    assert contents(requester) == [
        ("user", "I am Ann."),
        ("assistant", "Hi Ann."),
        ("user", "Who am I?"),
    ]


def test_sessions_are_kept_apart_and_found_again_by_their_ids() -> None:
    agent, requester = make_agent("1", "2", "3")
    agent.activate_chat_session("one").input("first").start()
    agent.activate_chat_session("two").input("second").start()
    agent.activate_chat_session("one").input("third").start()
    assert contents(requester) == [("user", "first"), ("assistant", "1"), ("user", "third")]
    assert agent.chat_session_id == "one"


def test_new_session_gets_an_id_of_its_own() -> None:
    agent, _ = make_agent()
    first = agent.activate_chat_session().chat_session_id
    second = agent.activate_chat_session().chat_session_id
    assert first
    assert second
    assert first != second


def test_stopping_leaves_nothing_behind() -> None:
    agent, requester = make_agent("1", "2")
    agent.set_chat_history([{"role": "user", "content": "from before"}])
    agent.activate_chat_session().input("in between").start()
    agent.stop_chat_session()
    assert recorded(agent) == [("user", "from before")]
    agent.input("after").start()
    assert "in between" not in str(contents(requester))
    agent.stop_chat_session()
    assert recorded(agent) == [("user", "from before")]


def test_unfinished_answer_is_not_recorded() -> None:
    agent, _ = make_agent(Reply(steps=["half", ModelError("lost", provider="x")]))
    agent.activate_chat_session()
    with pytest.raises(ModelError):
        agent.input("x").start()
    assert recorded(agent) == []


def test_only_the_winning_answer_is_recorded() -> None:
    agent, _ = make_agent('{"a": 1}', '{"a": 1, "b": 2}')
    agent.activate_chat_session()
    agent.input("x").output({"a": (int,), "b": (int,)}).start(ensure_keys=["b"])
    assert recorded(agent) == [("user", "x"), ("assistant", '{"a": 1, "b": 2}')]


def test_request_is_recorded_in_the_session_it_was_made_in() -> None:
    agent, _ = make_agent("1")
    response = agent.activate_chat_session("one").input("x").get_response()
    agent.activate_chat_session("two")
    response.get_text()
    assert recorded(agent) == []
    assert recorded(agent.activate_chat_session("one")) == [("user", "x"), ("assistant", "1")]


@pytest.mark.parametrize(
    ("paths", "mode", "expected"),
    [
        ("input", "all", "Hello"),
        ("info.user.name", "all", "Ann"),
        ("/info/user/name", "all", "Ann"),
        (("info", "user.tags[1]"), "all", "b"),
        (["info.user.tags[*]"], "all", "- a\n- b"),
        (["info.missing", "input", "info.user.name"], "first", "Hello"),
        (["input", "info.user.city"], "all", "input: Hello\ninfo.user.city: 東京"),
        ("nothing", "all", "Hello"),
    ],
)
def test_parts_of_the_request_are_recorded(paths: Any, mode: Any, expected: str) -> None:
    agent, _ = make_agent("ok")
    agent.activate_chat_session().set_record_input_paths(paths).set_record_input_mode(mode)
    agent.info({"user": {"name": "Ann", "tags": ["a", "b"], "city": "東京"}}).input("Hello").start()
    assert recorded(agent)[0] == ("user", expected)


@pytest.mark.parametrize(
    ("paths", "mode", "expected"),
    [
        ("reply", "all", "sure"),
        (["missing", "steps[0].do"], "first", "saw"),
        (["reply", "steps[*].do"], "all", "reply: sure\nsteps[*].do:\n- saw\n- glue"),
        ("missing", "all", '{"reply": "sure", "steps": [{"do": "saw"}, {"do": "glue"}]}'),
    ],
)
def test_parts_of_the_answer_are_recorded(paths: Any, mode: Any, expected: str) -> None:
    agent, _ = make_agent('{"reply": "sure", "steps": [{"do": "saw"}, {"do": "glue"}]}')
    agent.activate_chat_session().set_record_output_paths(paths).set_record_output_mode(mode)
    agent.input("x").output({"reply": (str,), "steps": [{"do": (str,)}]}).start()
    assert recorded(agent)[1] == ("assistant", expected)


def test_paths_can_be_added_read_and_cleaned() -> None:
    agent, _ = make_agent()
    agent.set_record_input_paths(["input"]).add_record_input_paths(["/info/a", ("info", None)])
    assert agent.get_record_input_paths() == ["input", "info.a", "info"]
    assert agent.get_record_input_paths(style="slash") == ["/input", "/info/a", "/info"]
    agent.set_record_input_paths("info")
    assert agent.get_record_input_paths() == ["info"]
    assert agent.clean_record_input_paths().get_record_input_paths() == []
    agent.add_record_output_paths("a").add_record_output_paths(["b", "a"])
    assert agent.get_record_output_paths(style="slash") == ["/a", "/b"]
    assert agent.clean_record_output_paths().get_record_output_paths() == []


def test_settings_say_the_same_as_the_setters() -> None:
    agent, _ = make_agent(
        '{"reply": "sure", "note": "x"}',
        record_input_paths=["info.a", "input"],
        record_input_mode="first",
        record_output_paths=["note", "reply"],
        record_output_mode="first",
    )
    agent.activate_chat_session()
    agent.info({"a": "A"}).input("B").output({"reply": (str,), "note": (str,)}).start()
    assert recorded(agent) == [("user", "A"), ("assistant", "x")]


def test_unknown_mode_is_refused() -> None:
    agent, _ = make_agent()
    with pytest.raises(ConfigError, match="no record mode 'last'; there are: first, all"):
        agent.set_record_input_mode("last")  # type: ignore[arg-type]


def test_budget_drops_the_oldest_turns_first_but_forgets_nothing() -> None:
    agent, requester = make_agent("a" * 300, "b" * 300, "c", chat_session={"token_budget": 150})
    agent.activate_chat_session("s")
    agent.input("first").start()
    agent.input("second").start()
    agent.input("third").start()
    assert [role for role, _ in contents(requester)] == ["user", "assistant", "user"]
    assert contents(requester)[0] == ("user", "second")
    agent.set_settings("chat_session.token_budget", None)
    assert len(recorded(agent.activate_chat_session("s"))) == 6


def test_history_can_be_set_added_to_and_reset() -> None:
    agent, _ = make_agent()
    agent.activate_chat_session("s").set_chat_history([{"role": "user", "content": "a"}])
    agent.add_chat_history({"role": "assistant", "content": "b"})
    agent.add_chat_history([{"role": "user", "content": "a"}])
    assert recorded(agent) == [("user", "a"), ("assistant", "b"), ("user", "a")]
    assert recorded(agent.activate_chat_session("other")) == []
    assert len(recorded(agent.activate_chat_session("s"))) == 3
    assert recorded(agent.reset_chat_history()) == []
    assert recorded(agent.activate_chat_session("s")) == []


def test_folder_store_survives_the_process(tmp_path: Path) -> None:
    first, _ = make_agent("Grüße")
    first.use_chat_store(FolderChatStore(tmp_path)).activate_chat_session("../a/b").input("hi").start()
    [file] = tmp_path.iterdir()
    assert "Grüße" in file.read_text(encoding="utf-8")
    second, requester = make_agent("2")
    second.use_chat_store(FolderChatStore(tmp_path)).activate_chat_session("../a/b").input("again").start()
    assert contents(requester)[1] == ("assistant", "Grüße")


def test_broken_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text("{", encoding="utf-8")
    agent, _ = make_agent()
    with pytest.raises(ConfigError, match=r"session 's' cannot be read from .*s\.json"):
        agent.use_chat_store(FolderChatStore(tmp_path)).activate_chat_session("s")
