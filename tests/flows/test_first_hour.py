"""The mistakes of a first hour: each gets an error, or a line in the log, that names the remedy."""

import copy
import logging
import pickle
from typing import Any

import pytest
from pydantic import BaseModel

from dovetail import Agent
from dovetail.errors import ConfigError, EmptyPromptError, SignatureError
from dovetail.loop.budget import BudgetLimits
from dovetail.testing import ScriptedRequester
from dovetail.tools import tool


class Planet(BaseModel):
    name: str


def count_stock(item: str) -> int:
    """Count the pieces of an item."""
    return 3


CALL = {"tool_calls": [{"name": "count_stock", "arguments": {"item": "saw"}}]}


def test_a_second_request_without_input_says_that_the_first_one_was_sent() -> None:
    agent = Agent(model=ScriptedRequester(["Oak."]))
    assert agent.input("A wood?").start() == "Oak."
    with pytest.raises(EmptyPromptError, match=r"(?s)sent once, and the next one begins empty.*always=True"):
        agent.start()


@pytest.mark.parametrize("name", ["gpt-4o-mini", "claude-sonnet-5-5", "o3", "qwen2.5-7b", "Gemini-2.5-flash"])
def test_a_models_name_as_an_agents_name_is_refused(name: str) -> None:
    with pytest.raises(SignatureError, match=f"Write Agent\\(model='provider:{name}'\\)"):
        Agent(name)


@pytest.mark.parametrize("name", ["You are a poet.", "You are a poet", "Answer in French!"])
def test_a_system_prompt_as_an_agents_name_is_refused(name: str) -> None:
    with pytest.raises(SignatureError, match=r"looks like a system prompt. Write Agent\(system=…\)"):
        Agent(name)


def test_names_that_only_look_similar_are_allowed() -> None:
    assert Agent("Claude").name == "Claude"
    assert Agent("order desk 2").name == "order desk 2"
    assert Agent("oak-3d").name == "oak-3d"
    assert Agent("gpt-4o-mini", model=ScriptedRequester([])).name == "gpt-4o-mini"


def test_tool_func_works_with_brackets() -> None:
    agent = Agent()
    assert agent.tool_func()(count_stock) is count_stock
    assert [tool.name for tool in agent.tools] == ["count_stock"]


def test_options_of_tool_func_lead_to_the_decorator_that_has_them() -> None:
    decorate: Any = Agent().tool_func
    with pytest.raises(SignatureError, match=r"(?s)\{'name': 'count'\}.*@tool\(name='…', kind='…'\)"):
        decorate(name="count")


def test_auto_func_works_with_brackets() -> None:
    @Agent(model=ScriptedRequester(['{"value": true}'])).auto_func()
    def is_content(review: str) -> bool:  # type: ignore[empty-body]
        """Say whether the customer is content."""

    assert is_content("Lovely.") is True


@pytest.mark.parametrize("key", ["OpenAICompatible", "OpenAICompatible.base_url", "debug"])
def test_settings_of_agently_name_ours(key: str) -> None:
    with pytest.raises(ConfigError, match=r"(?s)Unknown setting .*Write .*set_settings\('"):
        Agent().set_settings(key, "https://example.com/v1")


@pytest.mark.parametrize(
    ("option", "remedy"),
    [
        ({"max_turns": 1}, r"limits=\{'turns': …\}"),
        ({"limit": {"turns": 1}}, r"limits=\{'turns': …\}"),
        ({"timeout": 1}, r"limits=\{'seconds': …\}"),
        ({"on_even": print}, "Did you mean 'on_event'"),
        ({"colour": 1}, "Expected one of: limits, on_event, ask, cancel"),
    ],
)
def test_an_unknown_option_of_a_run_is_refused(option: dict[str, Any], remedy: str) -> None:
    agent = Agent(model=ScriptedRequester(["Never asked."]))
    for run in (agent.run, agent.async_run, agent.run_stream):
        with pytest.raises(SignatureError, match=f"Unknown option '{next(iter(option))}' of run.*{remedy}"):
            run("Count the saws.", **option)


@pytest.mark.parametrize(
    ("method", "remedy"),
    [
        ("stream", r"get_generator\(\)"),
        ("invoke", r"agent.run\('…'\)"),
        ("ask", r"agent.input\('…'\).start\(\)"),
        ("tool", "@agent.tool_func"),
        ("prompt", "agent.agent_prompt"),
        ("request", r"agent.input\('…'\)"),
        ("remove_agent_prompt", r"agent.agent_prompt.delete\(key\)"),
    ],
)
def test_a_method_of_another_library_names_ours(method: str, remedy: str) -> None:
    agent = Agent()
    with pytest.raises(
        AttributeError, match=f"'Agent' object has no attribute '{method}'. Write `.*{remedy}"
    ):
        getattr(agent, method)
    assert not hasattr(agent, "no_such_method")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("result", r"get_result\(\)"), ("text", r"get_text\(\)"), ("output", r"get_data\(\)")],
)
def test_an_attribute_of_another_librarys_response_names_ours(name: str, remedy: str) -> None:
    response = Agent(model=ScriptedRequester(["Done."])).input("Go.").get_response()
    error = f"'Response' object has no attribute '{name}'. Write `response.{remedy}`"
    with pytest.raises(AttributeError, match=error):
        getattr(response, name)
    assert not hasattr(response, "no_such_name")


def test_the_module_of_tools_names_the_decorator() -> None:
    decorate: Any = tool
    with pytest.raises(SignatureError, match="from dovetail import tool"):
        decorate(count_stock)
    with pytest.raises(SignatureError, match="from dovetail import tool"):
        decorate(kind="read")


@pytest.mark.parametrize("message", [("user", "x"), ["user", "x"]])
def test_a_message_of_a_history_that_is_a_pair_is_refused(message: Any) -> None:
    agent = Agent(model=ScriptedRequester(["Never asked."]))
    shape = r"mapping such as \{'role': 'user', 'content': 'Hi.'\}, got"
    for ask in (agent.run, agent.chat().run):
        with pytest.raises(SignatureError, match=shape):
            ask("Go on.", history=[message])
    with pytest.raises(SignatureError, match=shape):
        agent.set_chat_history([message])


@pytest.mark.parametrize("limits", [{"turns": 0}, BudgetLimits(turns=0)])
def test_a_run_of_no_turns_is_refused(limits: Any) -> None:
    requester = ScriptedRequester(["Never asked."])
    with pytest.raises(ConfigError, match=r"limits.turns.*a positive whole number, got 0"):
        Agent(model=requester).run("Go.", limits=limits)
    assert requester.requests == []


def test_a_task_does_not_replace_an_input_in_silence() -> None:
    agent = Agent(model=ScriptedRequester(["Done."]))
    with pytest.raises(SignatureError, match=r"(?s)input already, 'q', and run\(\) got the task 'task'"):
        agent.input("q").run("task")
    assert agent.run().text == "Done."  # the input is still there


def test_a_task_may_replace_an_input_of_every_request() -> None:
    agent = Agent(model=ScriptedRequester(["Done."])).input("usual", always=True)
    assert agent.run("task").text == "Done."


@pytest.mark.parametrize("strategy", ["judge", "native"])
def test_a_call_after_the_last_round_of_start_is_logged(
    strategy: str, caplog: pytest.LogCaptureFixture
) -> None:
    judged = (
        '{"use_tool": true, "tool_command": {"tool_name": "count_stock", "tool_kwargs": {"item": "saw"}}}'
    )
    model = ScriptedRequester([judged if strategy == "judge" else CALL, CALL])
    agent = Agent(model=model, tools=[count_stock], settings={"tools": {"strategy": strategy}})
    with caplog.at_level(logging.WARNING):
        assert agent.input("How many saws and planes?").start() == ""
    [line] = [each for each in caplog.messages if "count_stock" in each]
    assert "`agent.run(…)` calls them until the model is done" in line


@pytest.mark.parametrize("view", ["async_start", "async_get_text", "async_run"])
def test_async_methods_without_asyncio_say_so(view: str) -> None:
    agent = Agent(model=ScriptedRequester(["Oak."])).input("A wood?")
    coroutine = getattr(agent, view)()
    with pytest.raises(ConfigError, match=r"(?s)No asyncio event loop is running.*trio.to_thread"):
        coroutine.send(None)  # as trio does


def test_a_time_limit_at_a_view_says_where_it_belongs() -> None:
    agent: Any = Agent(model=ScriptedRequester(["Oak."]))
    for view in ("get_text", "get_generator", "async_get_text"):
        with pytest.raises(
            SignatureError, match=rf"(?s)Cannot call {view}\(\): .*'timeout'.*start\(timeout=…\)"
        ):
            getattr(agent.input("A wood?"), view)(timeout=5)


def test_prose_where_fields_were_asked_for_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent(model=ScriptedRequester(["Jupiter."]))
    with caplog.at_level(logging.WARNING):
        assert agent.input("A planet?").output({"name": (str, "its name")}).start() is None
    [line] = caplog.messages
    assert line.startswith("Cannot read data: the answer contains no JSON object: 'Jupiter.'.")
    assert "`returns(Model)` asks again" in line


def test_a_typed_answer_asks_again_instead(caplog: pytest.LogCaptureFixture) -> None:
    model = ScriptedRequester(["Jupiter.", '{"name": "Jupiter"}'])
    with caplog.at_level(logging.WARNING):
        assert Agent(model=model).input("A planet?").returns(Planet).start() == Planet(name="Jupiter")
    assert caplog.messages == []


@pytest.mark.parametrize("view", ["start", "get_data"])
def test_a_question_in_the_place_of_a_type_names_the_input(view: str) -> None:
    ask: Any = getattr(Agent(model=ScriptedRequester([])), view)
    with pytest.raises(SignatureError, match=r"`agent.input\('How many planets are there\?'\).start\(\)`"):
        ask("How many planets are there?")
    with pytest.raises(SignatureError, match=r"Did you mean 'parsed'\?$"):
        ask("parse")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("output", r"result.text` or, after `run\(…, returns=Model\)`, `result.data`"),
        ("content", "result.text`"),
        ("all_messages", "result.messages`"),
    ],
)
def test_an_attribute_of_another_librarys_result_names_ours(name: str, remedy: str) -> None:
    result = Agent(model=ScriptedRequester(["Done."])).run("Go.")
    error = f"'RunResult' object has no attribute '{name}'. Write `{remedy}"
    with pytest.raises(AttributeError, match=error):
        getattr(result, name)
    assert not hasattr(result, "no_such_name")
    assert pickle.loads(pickle.dumps(result)) == copy.copy(result) == result


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("start", r"chat.run\('…'\)"),
        ("input", r"chat.run\('…'\)"),
        ("stream", r"chat.run_stream\('…'\)"),
        ("returns", r"chat.run\('…', returns=Model\)"),
        ("history", "chat.messages"),
    ],
)
def test_a_method_of_an_agent_on_its_chat_names_the_one_of_chats(name: str, remedy: str) -> None:
    chat = Agent(model=ScriptedRequester([])).chat("ann")
    with pytest.raises(AttributeError, match=f"'Chat' object has no attribute '{name}'. Write `{remedy}`"):
        getattr(chat, name)
    assert not hasattr(chat, "no_such_name")


@pytest.mark.parametrize(
    ("argument", "remedy"),
    [
        ("options", r"`agent.options\(\{'temperature': 0\}\).input\('…'\).start\(\)`"),
        ("temperature", r"`agent.options\(\{'temperature': 0\}\).input\('…'\).start\(\)`"),
        ("max_turns", r"`agent.run\('…'\)`"),
        ("model", r"`Agent\(model='provider:name'\)`"),
    ],
)
def test_an_argument_that_start_does_not_take_says_where_it_belongs(argument: str, remedy: str) -> None:
    agent: Any = Agent(model=ScriptedRequester([])).input("A wood?")
    with pytest.raises(SignatureError, match=f"(?s)Unknown argument '{argument}'.*{remedy}") as caught:
        agent.start(**{argument: 1})
    assert "time" not in (caught.value.hint or "")


def test_options_of_the_model_at_run_say_where_they_belong() -> None:
    agent: Any = Agent(model=ScriptedRequester([]))
    with pytest.raises(SignatureError, match=r"Write `agent.options\(\{'max_tokens': 500\}\).run\('…'\)`"):
        agent.run("Go.", options={"max_tokens": 500})


def test_a_run_without_a_task_says_where_the_task_goes() -> None:
    agent = Agent(model=ScriptedRequester([]))
    for run in (agent.run, agent.chat().run):
        with pytest.raises(EmptyPromptError, match=r"Pass the task: `run\('…'\)`") as caught:
            run()
        assert "start()" not in str(caught.value)


def test_an_instance_in_place_of_a_type_is_refused() -> None:
    agent: Any = Agent(model=ScriptedRequester([]))
    for ask in (lambda: agent.returns(Planet(name="x")), lambda: agent.run("Go.", returns=Planet(name="x"))):
        with pytest.raises(
            ConfigError, match=r"(?s)needs a type, got Planet\(name='x'\).*Pass the class itself"
        ):
            ask()


def test_a_type_that_is_not_named_at_run_says_how_to_pass_it() -> None:
    agent: Any = Agent(model=ScriptedRequester([]))
    with pytest.raises(SignatureError, match="returns=…"):
        agent.run("Go.", Planet)


def test_an_answer_of_other_types_than_its_output_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    answer = '{"book": 5, "pages": "many"}'
    agent = Agent(model=ScriptedRequester([answer] * 2))
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            data = agent.input("A book?").output({"book": (str,), "pages": (int,), "year": (int,)}).start()
            assert data == {"book": 5, "pages": "many"}
    [line] = caplog.messages
    places = "`book`: expected str, got int; `pages`: expected int, got str; `year` is missing"
    assert line.startswith(
        f"The answer does not fit its output: {places}. It is used as it is; `returns(Model)`"
    )


def test_a_run_whose_answer_lacks_keys_of_its_output_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent(model=ScriptedRequester(['{"titel": "Oak"}']))
    with caplog.at_level(logging.WARNING):
        assert agent.output({"title_of_run": (str,)}).run("A book?").data == {"titel": "Oak"}
    assert "`title_of_run` is missing" in caplog.text


def test_an_answer_that_fits_its_output_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent(model=ScriptedRequester(['{"book": "Oak", "pages": 3, "more": true}']))
    with caplog.at_level(logging.WARNING):
        agent.input("A book?").output({"book": (str,), "pages": (int,)}).start()
    assert caplog.messages == []
