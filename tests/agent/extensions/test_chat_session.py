"""Conversations that are remembered: several sessions, parts of turns, stores and budgets."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dovetail import Agent
from dovetail.agent.extensions import ChatSessionExtension, FolderChatStore
from dovetail.errors import ConfigError, ModelError
from dovetail.testing import Reply, ScriptedRequester
from patience import PATIENCE


class Chatter(ChatSessionExtension, Agent):
    """An agent that remembers."""


def make_agent(*replies: Any, **settings: Any) -> tuple[Chatter, ScriptedRequester]:
    requester = ScriptedRequester(replies)
    return Chatter(requester=requester, settings=settings), requester


def enter(agent: Chatter, session_id: str | None = None) -> Chatter:
    agent.activate_chat_session(session_id)
    return agent


def contents(requester: ScriptedRequester) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in requester.requests[-1].messages]


def recorded(agent: Chatter) -> list[tuple[str, Any]]:
    history = agent.agent_prompt.get("chat_history") or []
    return [(message["role"], message["content"]) for message in history]


def test_turns_are_sent_again_in_the_next_request() -> None:
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
    enter(agent, "one").input("first").start()
    enter(agent, "two").input("second").start()
    enter(agent, "one").input("third").start()
    assert contents(requester) == [("user", "first"), ("assistant", "1"), ("user", "third")]
    assert agent.chat_session_id == "one"


def test_new_session_gets_an_id_of_its_own() -> None:
    agent, _ = make_agent()
    first = agent.activate_chat_session()
    assert agent.chat_session_id == first
    second = agent.activate_chat_session()
    assert agent.chat_session_id == second != first
    assert agent.activate_chat_session("mine") == "mine"


def test_stopping_leaves_nothing_behind() -> None:
    agent, requester = make_agent("1", "2")
    agent.set_chat_history([{"role": "user", "content": "from before"}])
    enter(agent).input("in between").start()
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
    response = enter(agent, "one").input("x").get_response()
    agent.activate_chat_session("two")
    response.get_text()
    assert recorded(agent) == []
    assert recorded(enter(agent, "one")) == [("user", "x"), ("assistant", "1")]


@pytest.mark.parametrize(
    ("paths", "mode", "expected"),
    [
        (["input"], "all", "input: Hello\n"),
        (["info.user.name"], "all", "info.user.name: Ann\n"),
        (["/info/user/name"], "all", "info.user.name: Ann\n"),
        ([("info", "user.tags[1]")], "all", "info:\n  user.tags[1]: b\n"),
        ([("info", "user.tags[*]"), ("info", "/user/city")], "all",
         "info:\n  user.city: 東京\n  user.tags[*]:\n  - a\n  - b\n"),
        (["input", ("info", "user.age"), ("info", "user.none")], "all",
         "info:\n  user.age: 0\ninput: Hello\n"),
        (["input", "instruct"], "all", "input: Hello\ninstruct: null\n"),
        (["info.missing", "input", "info.user.name"], "first", "Hello"),
        ([("info", "user.missing"), ("info", "user.tags")], "first", "- a\n- b\n"),
        ([("info", "user.age")], "first", "0"),
        ([("info", "user")], "first",
         "age: 0\ncity: 東京\nname: Ann\nnone: null\ntags:\n- a\n- b\n"),
        (["info.user.tags"], "first", "['a', 'b']"),
        (["nothing"], "all", "Hello"),
        ([("input", "a.b")], "all", "Hello"),
    ],
)  # fmt: skip
def test_parts_of_the_request_are_recorded(paths: Any, mode: Any, expected: str) -> None:
    agent, _ = make_agent("ok")
    enter(agent).set_record_input_paths(*paths).set_record_input_mode(mode)
    user = {"name": "Ann", "tags": ["a", "b"], "city": "東京", "age": 0, "none": None}
    agent.info({"user": user}).input("Hello").start()
    assert recorded(agent)[0] == ("user", expected)


@pytest.mark.parametrize(
    ("paths", "mode", "expected"),
    [
        (["reply"], "all", "reply: sure\n"),
        (["missing", "steps[0].do"], "first", "saw"),
        (["reply", "steps[*].do"], "all", "reply: sure\nsteps[*].do:\n- saw\n- glue\n"),
        (["missing"], "all", '{"reply": "sure", "steps": [{"do": "saw"}, {"do": "glue"}]}'),
    ],
)
def test_parts_of_the_answer_are_recorded(paths: Any, mode: Any, expected: str) -> None:
    agent, _ = make_agent('{"reply": "sure", "steps": [{"do": "saw"}, {"do": "glue"}]}')
    enter(agent).set_record_output_paths(*paths).set_record_output_mode(mode)
    agent.input("x").output({"reply": (str,), "steps": [{"do": (str,)}]}).start()
    assert recorded(agent)[1] == ("assistant", expected)


def test_paths_can_be_added_read_and_cleaned() -> None:
    agent, _ = make_agent()
    agent.set_record_input_paths("input").add_record_input_paths(("info", "/a/b"), "input")
    agent.add_record_input_path("info", "a/c", style="slash").add_record_input_path("instruct")
    assert agent.get_record_input_paths() == [
        ("input", None), ("info", "a.b"), ("info", "a.c"), ("instruct", None)
    ]  # fmt: skip
    assert agent.get_record_input_paths(style="slash")[1] == ("info", "/a/b")
    agent.set_record_input_paths(["info", ("input", "a")])
    assert agent.get_record_input_paths() == [("info", None), ("input", "a")]
    assert agent.clean_record_input_paths().get_record_input_paths() == []
    agent.add_record_output_paths("a").add_record_output_paths(["b", "a"]).add_record_output_path("/c/d")
    assert agent.get_record_output_paths() == ["a", "b", "c.d"]
    assert agent.get_record_output_paths(style="slash") == ["/a", "/b", "/c/d"]
    assert agent.set_record_output_paths("z").get_record_output_paths() == ["z"]
    assert agent.clean_record_output_paths().get_record_output_paths() == []


def test_path_that_is_not_text_is_refused() -> None:
    agent, _ = make_agent()
    wrong: Any = 3
    with pytest.raises(ConfigError, match=r"A record path must be text such as 'input' or .*, got 3"):
        agent.set_record_input_paths(wrong)


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


def test_settings_may_write_a_pair_as_a_list() -> None:
    agent, _ = make_agent("ok", record_input_paths=[["info", "a"], "input"])
    enter(agent).info({"a": "A"}).input("B").start()
    assert recorded(agent)[0] == ("user", "info:\n  a: A\ninput: B\n")


async def test_users_of_one_agent_are_each_in_their_own_session() -> None:
    agent, requester = make_agent(*(f"{number}" for number in range(4)))

    async def talk(name: str) -> str | None:
        agent.activate_chat_session(name)
        for text in ("first", "second"):
            await asyncio.sleep(0)
            await agent.input(f"{text} of {name}").async_start()
        return agent.chat_session_id

    assert await asyncio.gather(talk("ann"), talk("ben")) == ["ann", "ben"]
    for request in requester.requests:
        text = str(request.messages)
        assert ("of ann" in text) != ("of ben" in text)
    for name in ("ann", "ben"):
        asked = [content for role, content in recorded(enter(agent, name)) if role == "user"]
        assert asked == [f"first of {name}", f"second of {name}"]


def test_threads_are_each_in_their_own_session() -> None:
    agent, requester = make_agent("1", "2")
    both = threading.Barrier(2)

    def talk(name: str) -> None:
        enter(agent, name).add_chat_history({"role": "user", "content": f"I am {name}."})
        both.wait(PATIENCE)
        agent.input("Who am I?").start()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(talk, ["Ann", "Ben"]))
    assert sorted(request.messages[0]["content"] for request in requester.requests) == [
        "I am Ann.",
        "I am Ben.",
    ]


async def test_session_goes_along_with_a_method_that_is_handed_to_a_thread() -> None:
    agent, _ = make_agent("1")

    async def talk() -> None:
        start = enter(agent, "ann").input("I am Ann.").start
        agent.activate_chat_session("ben")
        await asyncio.get_running_loop().run_in_executor(None, start)

    await talk()
    assert recorded(enter(agent, "ben")) == []
    assert recorded(enter(agent, "ann")) == [("user", "I am Ann."), ("assistant", "1")]


async def test_user_who_stopped_does_not_see_the_session_of_another() -> None:
    agent, requester = make_agent("1", "2")
    stopped = asyncio.Event()

    async def talk() -> None:
        enter(agent, "talk").add_chat_history({"role": "user", "content": "secret"})
        await stopped.wait()

    async def stop() -> None:
        enter(agent, "stop").stop_chat_session()
        await agent.input("hello").async_start()
        stopped.set()

    await asyncio.gather(talk(), stop())
    assert contents(requester) == [("user", "hello")]


def test_one_message_is_a_history_too() -> None:
    agent, requester = make_agent("1")
    enter(agent).set_chat_history({"role": "user", "content": "from before"})
    assert recorded(agent) == [("user", "from before")]
    agent.input("x").start()
    assert contents(requester)[0] == ("user", "from before")


def test_unknown_mode_is_refused() -> None:
    agent, _ = make_agent()
    with pytest.raises(ConfigError, match=r"Unknown record mode 'last'\. Expected one of: first, all\."):
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
    assert len(recorded(enter(agent, "s"))) == 6


def test_history_can_be_set_added_to_and_reset() -> None:
    agent, _ = make_agent()
    enter(agent, "s").set_chat_history([{"role": "user", "content": "a"}])
    agent.add_chat_history({"role": "assistant", "content": "b"})
    agent.add_chat_history([{"role": "user", "content": "a"}])
    assert recorded(agent) == [("user", "a"), ("assistant", "b"), ("user", "a")]
    assert recorded(enter(agent, "other")) == []
    assert len(recorded(enter(agent, "s"))) == 3
    assert recorded(agent.reset_chat_history()) == []
    assert recorded(enter(agent, "s")) == []


def test_folder_store_survives_the_process(tmp_path: Path) -> None:
    first, _ = make_agent("Grüße")
    enter(first.use_chat_store(FolderChatStore(tmp_path)), "../a/b").input("hi").start()
    [file] = tmp_path.iterdir()
    assert "Grüße" in file.read_text(encoding="utf-8")
    second, requester = make_agent("2")
    enter(second.use_chat_store(FolderChatStore(tmp_path)), "../a/b").input("again").start()
    assert contents(requester)[1] == ("assistant", "Grüße")


def test_broken_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text("{", encoding="utf-8")
    agent, _ = make_agent()
    with pytest.raises(ConfigError, match=r"Cannot read chat session 's' from .*s\.json"):
        agent.use_chat_store(FolderChatStore(tmp_path)).activate_chat_session("s")


def test_agents_that_share_a_store_lose_no_turn_of_a_session(tmp_path: Path) -> None:
    def ask(number: int) -> None:
        agent, _ = make_agent(f"answer {number}")
        agent.use_chat_store(FolderChatStore(tmp_path)).activate_chat_session("ann")
        agent.input(f"question {number}").start()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(30)))
    assert len(FolderChatStore(tmp_path).load("ann")) == 60
