"""A prompt that stays, requests that come and go, and every view of their answers."""

import asyncio
import threading
from typing import Any

import pytest

from dovetail import Agent, BaseAgent
from dovetail.agent.runtime import Runtime
from dovetail.errors import AnswerTimeoutError, ConfigError, EmptyPromptError
from dovetail.settings import Settings
from dovetail.testing import Gate, Reply, ScriptedRequester, ScriptedServer
from leap import Leap
from patience import PATIENCE


def make_agent(*replies: Any, **options: Any) -> tuple[BaseAgent, ScriptedRequester]:
    requester = ScriptedRequester(replies, **options)
    return BaseAgent("tester", requester=requester), requester


def last_text(requester: ScriptedRequester) -> str:
    return str(requester.requests[-1].messages[-1]["content"])


def test_start_takes_a_time_limit() -> None:
    agent, _ = make_agent(["Hel", Leap()], ["Hel", Leap()])
    with pytest.raises(AnswerTimeoutError, match="3 characters had arrived"):
        agent.input("Hi").start(timeout=PATIENCE)
    with pytest.raises(AnswerTimeoutError, match="3 characters had arrived"):
        agent.input("Hi").returns(str).start(timeout=PATIENCE)


def test_a_demand_that_means_nothing_is_refused() -> None:
    agent, _ = make_agent("Hello!", "Hello!")
    with pytest.raises(TypeError, match=r"'retries'\. Expected one of: ensure_keys, max_retries"):
        agent.input("Hi").start(retries=3)
    with pytest.raises(TypeError, match=r"'timeout'\. Expected one of: .*\n.*where the request is made"):
        agent.input("Hi").get_data(timeout=3)


def test_plain_question_returns_plain_text() -> None:
    agent, requester = make_agent("Hello!")
    assert agent.input("Hi").start() == "Hello!"
    assert requester.requests[0].messages == [{"role": "user", "content": "Hi"}]
    assert requester.requests[0].schema is None


async def test_output_returns_parsed_data_and_sends_a_closed_schema() -> None:
    agent, requester = make_agent('Sure: {"name": "teal", "shades": ["a"]}')
    answer = (
        await agent.input("A colour").output({"name": (str, "in English"), "shades": [(str,)]}).async_start()
    )
    assert answer == {"name": "teal", "shades": ["a"]}
    assert requester.requests[0].schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "in English"},
            "shades": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["name", "shades"],
        "additionalProperties": False,
    }


def test_model_that_cannot_be_held_to_a_schema_gets_none() -> None:
    agent, requester = make_agent('{"a": 1}', follows_schema=False)
    assert agent.input("x").output({"a": (int,)}).start() == {"a": 1}
    assert requester.requests[0].schema is None


def test_list_as_output_is_a_list() -> None:
    agent, _ = make_agent('[{"a": "1"}]')
    response = agent.input("x").output([{"a": (int,)}]).get_response()
    assert response.get_data() == [{"a": "1"}]
    assert response.get_data_object().list[0].a == 1


def test_request_prompt_is_gone_after_the_request_and_agent_prompt_stays() -> None:
    agent, requester = make_agent("1", "2")
    agent.system("You are brief.", always=True).info({"day": "Monday"}).input("first").start()
    agent.input("second").start()
    assert "Monday" in str(requester.requests[0].messages)
    assert requester.requests[1].messages == [
        {"role": "system", "content": "You are brief."},
        {"role": "user", "content": "second"},
    ]


def test_request_is_taken_when_the_response_is_asked_for() -> None:
    agent, requester = make_agent("1")
    response = agent.input("asked").get_response()
    agent.input("next")
    assert requester.requests == []
    response.get_text()
    assert last_text(requester) == "asked"
    assert agent.request_prompt["input"] == "next"


def test_empty_prompt_is_refused() -> None:
    agent, _ = make_agent()
    with pytest.raises(EmptyPromptError):
        agent.start()


def test_role_rule_and_user_info_stand_under_system_with_its_text() -> None:
    agent, _ = make_agent()
    agent.system("General words.", always=True)
    agent.role("a carpenter", always=True).rule(["measure twice"]).user_info("Ann")
    assert agent.request_prompt["system"] == {
        "general": "General words.",
        "role": "a carpenter",
        "rule": ["measure twice"],
        "user_info": "Ann",
        "notice": agent.request_prompt["system"]["notice"],
    }
    notices = " ".join(agent.request_prompt["system"]["notice"])
    for name in ("{system.role}", "{system.rule}", "{system.user_info}"):
        assert name in notices


def test_mappings_fill_the_shorthands() -> None:
    agent, _ = make_agent()
    agent.input("Say ${word}", {"word": "hello"})
    assert agent.request_prompt["input"] == "Say hello"


def test_prompt_can_be_looked_at_without_sending_it() -> None:
    agent, requester = make_agent("x")
    agent.info("shared", always=True).input("mine").output({"a": (str, "text")})
    text = agent.get_prompt_text()
    assert "shared" in text
    assert "mine" in text
    assert '"$type": "str"' in agent.get_json_prompt()
    assert "$desc: text" in agent.get_yaml_prompt()
    assert requester.requests == []


def test_options_and_settings_reach_the_request() -> None:
    runtime = Runtime(Settings({"response": {"max_retries": 0}}))
    requester = ScriptedRequester(['{"a": 1}'])
    agent = BaseAgent(requester=requester, runtime=runtime, settings={"response": {"timeout": 5.0}})
    agent.set_settings("response.streaming_parse_path_style", "slash")
    agent.input("x").output({"a": (int,)}).options({"temperature": 0})
    assert [event.path for event in agent.get_generator("instant")] == ["/a"]
    assert requester.requests[0].options == {"temperature": 0}
    assert agent.settings.get("response.max_retries") == 0


def test_attachment_is_sent_as_parts() -> None:
    agent, requester = make_agent("a cat")
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    agent.input("What is it?").attachment([image]).start()
    assert requester.requests[0].messages[-1]["content"][-1] == image


async def test_every_view_has_its_agent_shorthand() -> None:
    agent, _ = make_agent(*['{"a": "x"}'] * 6, "t", "t")
    agent.output({"a": (str,)}, always=True).input("x", always=True)
    assert await agent.async_get_data() == {"a": "x"}
    assert (await agent.async_get_data_object()).a == "x"
    assert [event.value async for event in agent.async_get_generator("instant")] == ["x", "x"]
    assert (await agent.async_get_meta())["finish_reason"] == "stop"
    assert agent.get_data_object().a == "x"
    assert agent.get_meta()["model"] == "scripted"
    assert await agent.async_get_text() == "t"
    assert agent.get_text() == "t"


async def test_leaving_a_generator_early_stops_the_request() -> None:
    gate = Gate()
    agent, _ = make_agent(Reply(steps=["first", gate, "second"]))
    reader = agent.input("x").async_get_generator()
    assert await anext(reader) == "first"
    await reader.aclose()
    gate.open()


async def test_tasks_that_share_an_agent_do_not_mix_their_requests() -> None:
    agent, requester = make_agent(Reply(text="ok", repeat=True))

    async def ask(number: int) -> None:
        agent.input(f"question {number}")
        await asyncio.sleep(0)
        agent.instruct(f"instruction {number}")
        await asyncio.sleep(0)
        await agent.async_start()

    await asyncio.gather(*(ask(number) for number in range(20)))
    texts = [str(request.messages[-1]["content"]) for request in requester.requests]
    for number in range(20):
        assert any(f"question {number}\n" in text and f"instruction {number}\n" in text for text in texts)


def test_threads_that_share_an_agent_do_not_mix_their_requests() -> None:
    agent, requester = make_agent(Reply(text="ok", repeat=True))
    barrier = threading.Barrier(8)

    def ask(number: int) -> None:
        agent.input(f"question {number}")
        barrier.wait(PATIENCE)
        agent.instruct(f"instruction {number}").start()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    texts = [str(request.messages[-1]["content"]) for request in requester.requests]
    for number in range(8):
        assert any(f"question {number}\n" in text and f"instruction {number}\n" in text for text in texts)


def test_what_was_written_before_the_loop_started_is_sent_in_it() -> None:
    agent, requester = make_agent("1")
    agent.input("before")
    asyncio.run(agent.async_start())
    assert last_text(requester) == "before"


async def test_what_a_task_left_unsent_reaches_no_other_task() -> None:
    agent, _ = make_agent()

    async def write() -> None:
        agent.input("a secret")

    await asyncio.create_task(write())
    assert agent.request_prompt.get() == {}


def test_agents_without_a_requester_take_the_one_of_their_runtime() -> None:
    class Fixed(Runtime):
        def requester(self, model: Any = None, settings: Settings | None = None) -> Any:
            return ScriptedRequester([f"I am {model}"])

    assert Agent(model="openai:x", runtime=Fixed()).input("who?").start() == "I am openai:x"


def test_order_of_system_and_role_does_not_matter() -> None:
    first, _ = make_agent()
    first.system("You sell wood.").role("clerk").input("x")
    second, _ = make_agent()
    second.role("clerk").system("You sell wood.").input("x")
    assert first.get_prompt_text() == second.get_prompt_text()
    third, _ = make_agent()
    third.role("clerk", always=True).system("You sell wood.").input("x")
    assert "role: clerk" in third.get_prompt_text()
    assert "general: You sell wood." in third.get_prompt_text()


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ({"role": "user", "content": "a"}, ["a"]),
        ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], ["a", "b"]),
        (({"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}), ["a", "b"]),
        ("a", ["a"]),
        (["a"], ["a"]),
        ([], []),
        (None, []),
    ],
)
def test_history_is_one_message_or_many(history: Any, expected: list[str]) -> None:
    for method in ("set_chat_history", "add_chat_history"):
        agent = Agent(requester=ScriptedRequester([])).input("q")
        getattr(agent, method)(history)
        contents = [message["content"] for message in agent.request_prompt.to_messages()]
        assert [text for text in contents if text != "[User continue input]"] == [*expected, "q"]


def test_unknown_data_type_is_refused_before_anything_is_sent() -> None:
    agent, requester = make_agent()
    wrong: Any = "orginal"
    with pytest.raises(TypeError, match=r"Unknown data type 'orginal'\. Expected one of: parsed, original"):
        agent.input("x").start(type=wrong)
    assert requester.requests == []


def test_unknown_path_style_is_refused() -> None:
    agent, _ = make_agent()
    with pytest.raises(ConfigError, match=r"streaming_parse_path_style 'slsh'\. Expected one of: dot, slash"):
        agent.set_settings("response.streaming_parse_path_style", "slsh")


def test_history_that_was_set_as_one_message_can_be_added_to() -> None:
    agent, _ = make_agent()
    agent.set_agent_prompt("chat_history", {"role": "user", "content": "a"})
    agent.add_chat_history({"role": "assistant", "content": "b"}).input("q")
    assert [message["content"] for message in agent.request_prompt.to_messages()] == ["a", "b", "q"]


def test_an_agent_is_created_with_its_system_prompt_options_and_tools() -> None:
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    requester = ScriptedRequester(["Hello.", "Hello again."])
    agent = Agent(requester=requester, system="You are terse.", options={"temperature": 0}, tools=[add])
    agent.set_settings("tools.strategy", "native")
    for text in ("Hi", "Hi again"):
        agent.input(text).start()
    for request in requester.requests:
        assert request.messages[0] == {"role": "system", "content": "You are terse."}
        assert request.options == {"temperature": 0}
        assert [tool.name for tool in request.tools] == ["add"]


def test_arguments_that_are_none_are_as_if_they_were_not_there() -> None:
    requester = ScriptedRequester(["Hello."])
    agent = Agent(requester=requester, system=None, tools=None)
    assert agent.input("Hi").start() == "Hello."
    assert [message["role"] for message in requester.requests[0].messages] == ["user"]


@pytest.mark.parametrize(
    ("argument", "advice"),
    [
        ("instructions", "Write `system=…`."),
        ("system_prompt", "Write `system=…`."),
        ("llm", "Write `model=…`."),
        ("temperature", "Write `options={'temperature': …}`."),
        ("api_key", "Write `settings={'model': {'api_key': …}}`."),
        ("thinking", "Write `options={'thinking': …}`."),
        *(
            (name, "Write `agent.input('…').returns(Model).start()` or `agent.run('…', returns=Model)`.")
            for name in ("output_type", "result_type", "returns")
        ),
        ("limits", "Write `settings={'limits': {…}}`."),
        ("max_cost", "Write `settings={'limits': {'cost': …}}`."),
        ("fallbacks", "Write `settings={'model': {'fallbacks': […]}}`."),
        ("provider", "Write `model='provider:name'`."),
        ("sytem", "Did you mean 'system'?"),
        ("colour", "Expected one of: name, model, system, tools, options, settings, requester, runtime."),
    ],
)
def test_an_unknown_argument_says_what_to_write(argument: str, advice: str) -> None:
    arguments: Any = {argument: "x"}
    with pytest.raises(TypeError) as caught:
        Agent(**arguments)
    assert str(caught.value) == f"Unknown argument {argument!r} of Agent. {advice}"


@pytest.mark.parametrize("name", ["openai:gpt-5-mini", "claude:x", "local:small", "house:llama"])
def test_a_model_is_refused_as_the_name_of_an_agent(name: str) -> None:
    settings = {"model": {"providers": {"house": {"base_url": "http://127.0.0.1:9/v1"}}}}
    with pytest.raises(TypeError, match=rf"looks like the name of a model. Write Agent\(model='{name}'\)"):
        Agent(name, settings=settings)
    assert Agent("team:writer").name == "team:writer"


def test_the_model_of_an_agent_can_be_changed() -> None:
    with ScriptedServer(["one", "two"]) as server:
        settings = {"model": {"providers": {"house": {"base_url": server.url}}}}
        agent = Agent(model="house:first", settings=settings)
        assert agent.input("Hi").start() == "one"
        agent.model = "house:second"
        assert agent.model == "house:second"
        assert agent.input("Hi").start() == "two"
    assert [request.body["model"] for request in server.requests] == ["first", "second"]


def test_an_empty_model_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="model's name is empty"):
        Agent(model="")
    with pytest.raises(ConfigError, match="model's name is empty"):
        Agent(requester=ScriptedRequester([])).model = " "


def test_an_object_that_is_not_a_model_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="int is not a model"):
        Agent(model=3)
    requester: Any = "openai:gpt-4.1"
    with pytest.raises(ConfigError, match=r"'openai:gpt-4\.1' is not a requester(.|\n)*Agent\(model="):
        Agent(requester=requester)


def test_a_model_where_its_table_belongs_is_pointed_to_its_key() -> None:
    with pytest.raises(
        ConfigError, match=r"model must be a table, got 'openai:x'. Did you mean 'model.name'\?"
    ):
        Agent(settings={"model": "openai:x"})


def test_an_agent_without_tools_says_so() -> None:
    arguments: Any = {"tools": []}
    with pytest.raises(TypeError, match="Unknown argument 'tools' of BaseAgent"):
        BaseAgent(**arguments)
