"""The small embedded model, really: it streams, follows schemas, waits in line, stops when it shall."""

import asyncio
import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gguf_files
from dovetail import Agent
from dovetail.errors import ConfigError, ModelError
from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.events.delta import Delta, FinishDelta, ProgressDelta, TextDelta, ToolCallDelta
from dovetail.prompt.prompt import Prompt
from dovetail.requesters.local import files, llama, weights
from dovetail.requesters.local.answer import (
    explain_error,
    find_calls_since_user,
    find_failed,
    find_succeeded,
)
from dovetail.requesters.local.requester import LocalRequester, make_requester
from dovetail.requesters.requester import Requester
from dovetail.requesters.warn import warn_once
from dovetail.settings import Settings
from dovetail.settings.model import ModelSettings
from patience import PATIENCE

pytestmark = pytest.mark.slow

LOOK = ToolSpec(
    name="look_up",
    description="Look a word up.",
    parameters={
        "type": "object",
        "properties": {
            "word": {"type": "string", "maxLength": 12},
            "language": {"enum": ["en", "fr"]},
        },
        "required": ["word", "language"],
    },
)


@pytest.fixture
async def model(small_weights: Path) -> AsyncIterator[LocalRequester]:
    requester = LocalRequester(small_weights, "local:small")
    yield requester
    await requester.close()


def ask(text: str, **fields: Any) -> ModelRequest:
    return ModelRequest(
        messages=[{"role": "user", "content": text}],
        **{"options": {"max_tokens": 16}, **fields},
    )


async def collect(requester: LocalRequester, request: ModelRequest) -> list[Delta]:
    """Return the answer, without how far the prompt was read before it."""
    return [delta async for delta in requester.stream(request) if not isinstance(delta, ProgressDelta)]


def join_text(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


async def test_plain_chat_streams_and_ends_with_its_usage(model: LocalRequester) -> None:
    assert isinstance(model, Requester)
    *texts, finish = await collect(model, ask("What is the capital of France?"))
    assert len(texts) > 3
    assert "Paris" in join_text(texts)
    assert isinstance(finish, FinishDelta)
    assert finish.reason in ("stop", "length")
    assert finish.model == "local:small"
    assert finish.usage.input_tokens > 10
    assert 3 < finish.usage.output_tokens <= 16


async def test_answer_that_is_cut_off_says_so(model: LocalRequester) -> None:
    options = {"max_completion_tokens": 5, "ignore_eos": True}
    *_, finish = await collect(model, ask("Count to one hundred.", options=options))
    assert isinstance(finish, FinishDelta)
    assert (finish.reason, finish.usage.output_tokens) == ("length", 5)


async def test_answer_that_repeats_itself_is_stopped_and_says_so(model: LocalRequester) -> None:
    loop = {"const": "Pack a blanket: " * 40}
    deltas = await collect(model, ask("What to pack?", schema=loop, options={"max_tokens": 400}))
    assert 1 <= join_text(deltas).count("Pack a blanket") <= 3
    finish = deltas[-1]
    assert isinstance(finish, FinishDelta)
    assert finish.reason == "repetition"
    assert finish.usage.input_tokens > 0
    assert 0 < finish.usage.output_tokens < 200
    assert join_text(await collect(model, ask("What is the capital of France?")))


async def test_arguments_that_repeat_themselves_are_cut_off_and_not_closed(model: LocalRequester) -> None:
    content = {"const": "Pack a blanket: " * 40}
    parameters = {"type": "object", "properties": {"content": content}, "required": ["content"]}
    write = ToolSpec(name="write", description="Write a text.", parameters=parameters)
    deltas = await collect(model, ask("Write a packing list.", tools=[write], tool_choice="required"))
    calls = [delta for delta in deltas if isinstance(delta, ToolCallDelta)]
    written = "".join(delta.arguments for delta in calls)
    assert {delta.index for delta in calls} == {0}
    assert 5 <= written.count("Pack a blanket") < 39
    assert not written.endswith("}")
    finish = deltas[-1]
    assert isinstance(finish, FinishDelta)
    assert finish.usage.input_tokens > 0
    assert finish.usage.output_tokens > 0


async def test_how_far_the_prompt_is_read_comes_before_the_answer(model: LocalRequester) -> None:
    question = f"{'oak ash saw door ' * 60}What are these?"
    deltas = [delta async for delta in model.stream(ask(question, options={"max_tokens": 2}))]
    kinds = [type(delta) for delta in deltas]
    progress = [delta for delta in deltas if isinstance(delta, ProgressDelta)]
    assert kinds[: len(progress)] == [ProgressDelta] * len(progress)
    done = [delta.done for delta in progress]
    assert len(done) > 2
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, progress[-1].total)
    assert {delta.total for delta in progress} == {progress[-1].total}


async def test_schema_is_followed(model: LocalRequester) -> None:
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 20},
            "age": {"type": "integer", "minimum": 0, "maximum": 30},
            "colors": {"type": "array", "items": {"enum": ["black", "white"]}, "maxItems": 2},
        },
        "required": ["name", "age", "colors"],
    }
    deltas = await collect(model, ask("Describe a cat called Tom.", schema=schema, options={}))
    value = json.loads(join_text(deltas))
    assert list(value) == ["name", "age", "colors"]
    assert 0 <= value["age"] <= 30


@pytest.mark.parametrize("question", ["List three fruits.", "Name two cities in France."])
async def test_list_of_texts_has_items_of_words(model: LocalRequester, question: str) -> None:
    prompt = Prompt({"input": question, "output": [(str,)]}).to_messages()[0]["content"]
    schema = {"type": "array", "items": {"type": "string"}}
    items = json.loads(join_text(await collect(model, ask(prompt, schema=schema, options={}))))
    assert items
    assert all(any(letter.isalpha() for letter in item) for item in items)


async def test_list_has_as_many_items_as_its_schema_demands(model: LocalRequester) -> None:
    planet = {"type": "object", "properties": {"name": {"enum": ["Mars", "Venus"]}}, "required": ["name"]}
    schema = {
        "type": "array",
        "items": {"$ref": "#/$defs/Planet"},
        "$defs": {"Planet": planet},
        "minItems": 3,
        "maxItems": 3,
    }
    items = json.loads(join_text(await collect(model, ask("Name planets.", schema=schema, options={}))))
    assert len(items) == 3
    assert all(item["name"] in ("Mars", "Venus") for item in items)


@pytest.mark.parametrize(
    ("options", "written"), [({}, 8), ({"max_tokens": 9}, 9), ({"max_completion_tokens": 7}, 7)]
)
async def test_answer_ends_at_the_most_that_the_model_writes_unless_the_request_says_otherwise(
    small_weights: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, int], written: int
) -> None:
    monkeypatch.setitem(weights.CATALOGUE, "small", replace(weights.CATALOGUE["small"], longest=8))
    requester = LocalRequester(small_weights, "local:small")
    finish = (await collect(requester, ask("Tell me a long story.", options=options)))[-1]
    await requester.close()
    assert isinstance(finish, FinishDelta)
    assert (finish.reason, finish.usage.output_tokens) == ("length", written)


async def test_required_call_has_arguments_that_fit(model: LocalRequester) -> None:
    request = ask("What does 'bonjour' mean?", tools=[LOOK], tool_choice="required")
    *calls, finish = await collect(model, request)
    assert all(isinstance(call, ToolCallDelta) and call.index == 0 for call in calls)
    first = calls[0]
    assert isinstance(first, ToolCallDelta)
    assert first.name == "look_up"
    assert first.call_id
    arguments = json.loads("".join(call.arguments for call in calls if isinstance(call, ToolCallDelta)))
    assert arguments["language"] in ("en", "fr")
    assert isinstance(finish, FinishDelta)
    assert finish.reason == "tool-calls"


async def test_model_that_is_too_small_to_choose_answers_in_words(model: LocalRequester) -> None:
    deltas = await collect(model, ask("Hello!", tools=[LOOK]))
    assert not any(isinstance(delta, ToolCallDelta) for delta in deltas)
    assert "tool" not in join_text(deltas)


async def test_same_call_is_not_made_twice(
    small_weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Under another name it is no model of the catalogue; made to look larger, it is asked to choose.
    link = tmp_path / "other.gguf"
    link.symlink_to(small_weights)
    monkeypatch.setattr(files, "CHOOSES_TOOLS", 1)
    model = LocalRequester(link, "local:other")
    tool = ToolSpec(
        name="roll",
        description="Roll a die. Always use it.",
        parameters={"type": "object", "properties": {"sides": {"const": 6}}, "required": ["sides"]},
    )
    question: dict[str, Any] = {"role": "user", "content": "Roll a die."}
    call = {"id": "c", "type": "function", "function": {"name": "roll", "arguments": '{"sides":6}'}}
    history = [
        question,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "4"},
    ]
    request = ModelRequest(messages=history, tools=[tool], options={"max_tokens": 16, "temperature": 0})
    deltas = await collect(model, request)
    await model.close()
    assert not any(isinstance(delta, ToolCallDelta) for delta in deltas)
    assert join_text(deltas)


async def test_closing_the_stream_stops_the_generation(model: LocalRequester) -> None:
    stream = model.stream(ask("Tell me a very long story.", options={"max_tokens": 4000, "ignore_eos": True}))
    async for delta in stream:
        if isinstance(delta, TextDelta):
            break
    await stream.aclose()
    # 4000 tokens would take a minute and more; the engine is free for the next one at once.
    async with asyncio.timeout(PATIENCE):
        *_, finish = await collect(model, ask("Hi", options={"max_tokens": 3}))
    assert isinstance(finish, FinishDelta)


async def test_cancel_while_the_prompt_is_read_frees_the_engine(model: LocalRequester) -> None:
    await collect(model, ask("Hi", options={"max_tokens": 1}))
    task = asyncio.create_task(collect(model, ask("word " * 7000)))
    await asyncio.sleep(
        0
    )  # it has its turn now and reads the prompt, which takes far longer than this test may
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(PATIENCE):
        assert await collect(model, ask("Hi", options={"max_tokens": 1}))


async def test_requests_are_answered_in_order_and_a_cancelled_one_is_passed_over(
    model: LocalRequester,
) -> None:
    order: list[int] = []

    async def run(number: int) -> None:
        async for _ in model.stream(ask(f"Say {number}", options={"max_tokens": 4})):
            if number not in order:
                order.append(number)

    tasks = [asyncio.create_task(run(number)) for number in range(4)]
    await asyncio.sleep(0)
    tasks[2].cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert order == [0, 1, 3]
    assert isinstance(done[2], asyncio.CancelledError)


async def test_prompt_that_is_too_long_is_refused_with_the_numbers(model: LocalRequester) -> None:
    with pytest.raises(ModelError, match=f"at most {llama.CONTEXT}") as caught:
        await collect(model, ask("word " * 9000))
    assert caught.value.status == 400
    assert await collect(model, ask("Hi", options={"max_tokens": 1}))


async def test_engine_is_shared_and_freed_by_its_last_user(small_weights: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.gguf"  # a path of its own: agents of earlier tests may still use the shared engine
    path.symlink_to(small_weights)
    first, second = LocalRequester(path, "local:own"), LocalRequester(path, "local:own")
    await collect(first, ask("Hi", options={"max_tokens": 1}))
    await collect(second, ask("Hi", options={"max_tokens": 1}))
    engine = llama.share_engine(path)
    assert engine.users == 3
    llama.release_engine(engine)
    await first.close()
    assert await collect(second, ask("Hi", options={"max_tokens": 1}))
    await second.close()
    assert engine.users == 0


async def test_broken_weights_are_removed_and_the_error_says_how_to_get_them_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    path = weights.cache_folder() / weights.get_weights("small").file_name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF and then nonsense")
    with pytest.raises(ModelError, match="dovetail models pull small"):
        await collect(LocalRequester(path, "local:small"), ask("Hi"))
    assert not path.exists()


def copy_with_one_wrong_byte(weights_file: Path, folder: Path) -> Path:
    path = Path(shutil.copy(weights_file, folder))
    with path.open("r+b") as file:
        file.seek(60_000_000)
        byte = file.read(1)[0]
        file.seek(60_000_000)
        file.write(bytes([byte ^ 1]))
    return path


def test_one_wrong_byte_is_found_before_the_weights_are_loaded(
    small_weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    weights.cache_folder().mkdir()
    path = copy_with_one_wrong_byte(small_weights, weights.cache_folder())
    with pytest.raises(ModelError, match="were corrupt and have been deleted"):
        llama.load(path)
    assert not path.exists()


async def test_file_that_is_not_a_model_is_named_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "notes.gguf"
    path.write_text("not a model")
    with pytest.raises(ModelError, match=r"Cannot load '.*notes\.gguf': it is not in GGUF format"):
        await collect(LocalRequester(path, "local:notes"), ask("Hi"))
    assert path.exists()


async def test_file_under_another_name_answers_and_calls_a_tool(small_weights: Path, tmp_path: Path) -> None:
    path = tmp_path / "my model.Q4_1.gguf"
    path.symlink_to(small_weights)
    model = LocalRequester(path, f"local:{path}")
    deltas = await collect(
        model, ask("What is the capital of France?", options={"max_tokens": 16, "temperature": 0})
    )
    *calls, finish = await collect(
        model, ask("What does 'bonjour' mean?", tools=[LOOK], tool_choice="required")
    )
    await model.close()
    assert "Paris" in join_text(deltas)
    assert model.context_tokens == 8192
    assert isinstance(finish, FinishDelta)
    assert (finish.reason, finish.model) == ("tool-calls", f"local:{path}")
    arguments = "".join(call.arguments for call in calls if isinstance(call, ToolCallDelta))
    assert json.loads(arguments)["language"] in ("en", "fr")


async def test_context_window_can_be_set(small_weights: Path, tmp_path: Path) -> None:
    path = tmp_path / "short.gguf"
    path.symlink_to(small_weights)
    model = LocalRequester(path, "local:short", 512)
    with pytest.raises(ModelError, match="at most 512"):
        await collect(model, ask("word " * 600))
    await model.close()


async def test_model_in_three_parts_is_loaded_from_all_of_them(small_weights: Path, tmp_path: Path) -> None:
    parts = gguf_files.Original.read(small_weights).split(tmp_path, "split", 3)
    model = LocalRequester(files.locate(str(parts[1])), "local:split")
    deltas = await collect(
        model, ask("What is the capital of France?", options={"max_tokens": 16, "temperature": 0})
    )
    await model.close()
    assert "Paris" in join_text(deltas)


async def test_conversation_is_written_with_the_template_of_the_file(
    small_weights: Path, tmp_path: Path
) -> None:
    original = gguf_files.Original.read(small_weights)
    path = tmp_path / "own-template.gguf"
    # A template that ignores the conversation and begins a well-known list: the model continues it.
    template = gguf_files.entry("tokenizer.chat_template", "One, two, three, four, five, six,")
    others = [each for each in original.entries if b"tokenizer.chat_template" not in each[:40]]
    original.write(path, original.tensors, [*others, template])
    model = LocalRequester(path, "local:own-template")
    deltas = await collect(
        model, ask("What is the capital of France?", options={"max_tokens": 16, "temperature": 0})
    )
    await model.close()
    assert "seven, eight" in join_text(deltas)


async def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"No weights at '.*gone\.gguf'"):
        await collect(LocalRequester(tmp_path / "gone.gguf", "local:gone"), ask("Hi"))


def test_port_of_the_engine_accepts_no_client(small_weights: Path) -> None:
    server = llama.load(small_weights)
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{server.listening_address}/v1/models/x", timeout=PATIENCE)
    assert caught.value.code == 401
    caught.value.close()


def test_process_that_ends_in_the_middle_of_an_answer_ends_cleanly(small_weights: Path) -> None:
    code = f"""
import asyncio
from pathlib import Path
from dovetail.events.call import ModelRequest
from dovetail.events.delta import TextDelta
from dovetail.requesters.local.requester import LocalRequester, make_requester

async def main():
    stream = LocalRequester(Path({str(small_weights)!r}), "local:small").stream(
        ModelRequest(messages=[{{"role": "user", "content": "Tell a long story."}}])
    )
    async for delta in stream:
        if isinstance(delta, TextDelta):
            return print(delta)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("TextDelta")


def test_calls_are_counted_since_the_user_spoke() -> None:
    def call(arguments: str) -> dict[str, Any]:
        function = {"name": "add", "arguments": arguments}
        return {"role": "assistant", "tool_calls": [{"id": "x", "function": function}]}

    user = {"role": "user", "content": "Add."}
    assert find_calls_since_user([user, call("{}"), user]) == set()
    assert find_calls_since_user([user, call('{"b": 1, "a":2}')]) == {("add", '{"a": 2, "b": 1}')}
    assert find_calls_since_user([user, call("{broken")]) == {("add", "{broken")}


def make_steps(*results: str) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    for number, result in enumerate(results):
        call = {"id": f"c{number}", "function": {"name": "look_up", "arguments": "{}"}}
        steps += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": result},
        ]
    return steps


def test_call_that_failed_by_its_arguments_is_corrected_twice_at_most() -> None:
    unknown = "Error: Unknown word 'saws'. Expected one of: saw, plane."
    assert find_failed(make_steps(unknown), [LOOK]) is LOOK
    assert find_failed(make_steps(unknown, unknown), [LOOK]) is LOOK
    assert find_failed(make_steps(unknown, unknown, unknown), [LOOK]) is None
    assert find_failed(make_steps(unknown, "3"), [LOOK]) is None
    assert find_failed(make_steps("Error: The user declined this call."), [LOOK]) is None
    assert find_failed([], [LOOK]) is None


def test_tools_with_a_result_are_known() -> None:
    assert find_succeeded(make_steps("Error: no", "3")) == {"look_up"}
    assert find_succeeded(make_steps("Error: no")) == set()


def test_refusal_of_the_engine_is_reported() -> None:
    error = explain_error({"code": 500, "message": "out of memory"})
    assert "rejected the request: out of memory" in str(error)
    assert error.status == 500


@pytest.mark.parametrize("option", ["thinking", "reasoning_effort"])
async def test_thinking_is_left_out_with_one_warning_and_a_wrong_level_is_refused(
    model: LocalRequester, caplog: pytest.LogCaptureFixture, option: str
) -> None:
    warn_once.cache_clear()
    for _ in range(2):
        await collect(model, ask("Hi", options={option: "low", "max_tokens": 2}))
    assert [record.message for record in caplog.records if "thinking" in record.message] == [
        "local:small answers without the setting or option 'thinking', which it does not support."
    ]
    with pytest.raises(ConfigError, match="Expected one of: off, low, medium, high"):
        await collect(model, ask("Hi", options={"thinking": "lots"}))


async def test_model_that_cannot_choose_tools_says_so_once(
    model: LocalRequester, caplog: pytest.LogCaptureFixture
) -> None:
    warn_once.cache_clear()
    for _ in range(2):
        await collect(model, ask("Look up oak.", tools=[LOOK], options={"max_tokens": 2}))
    said = [record.message for record in caplog.records if "tools" in record.message]
    assert len(said) == 1
    assert said[0].startswith("local:small is too small to choose tools reliably")
    assert "dovetail models pull good" in said[0]


async def test_a_judging_request_to_a_model_that_cannot_choose_tools_says_so(
    model: LocalRequester, caplog: pytest.LogCaptureFixture
) -> None:
    warn_once.cache_clear()

    def look_up(word: str) -> str:
        """Look a word up."""
        return word

    agent = Agent(tools=[look_up], model=model).options({"max_tokens": 4})
    await agent.input("Look up oak.").async_start()
    assert "local:small is too small to choose tools reliably" in caplog.text


async def test_what_was_read_to_warm_up_is_not_read_again(model: LocalRequester) -> None:
    tool = ToolSpec(name="add", description="Add two numbers.", parameters={"type": "object"})
    await model.warm_up(ask("Hello", tools=[tool]))
    finish = (await collect(model, ask("Hello", tools=[tool])))[-1]
    assert isinstance(finish, FinishDelta)
    assert finish.usage.cached_tokens > 0


async def test_question_about_the_model_brings_who_made_it(model: LocalRequester) -> None:
    read: list[int] = []
    for question in ("How are you?", "Who are you?"):
        finish = (await collect(model, ask(question)))[-1]
        assert isinstance(finish, FinishDelta)
        read.append(finish.usage.input_tokens)
    assert read[1] > read[0] + 10


async def test_options_of_the_settings_are_those_of_every_request(small_weights: Path) -> None:
    settings = Settings({"model": {"options": {"max_tokens": 2}}})
    requester = make_requester(str(small_weights), settings.section(ModelSettings))
    try:
        for options, most in (({}, 2), ({"max_tokens": 1}, 1), ({"max_completion_tokens": 1}, 1)):
            finish = (await collect(requester, ask("Tell me a story.", options=options)))[-1]
            assert isinstance(finish, FinishDelta)
            assert (finish.reason, finish.usage.output_tokens) == ("length", most)
    finally:
        await requester.close()
