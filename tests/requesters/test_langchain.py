"""LangChain's own chat models, the fake ones and the OpenAI one, as requesters."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import (
    FakeListChatModel,
    FakeMessagesListChatModel,
    GenericFakeChatModel,
)
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from dovetail import Agent
from dovetail.errors import ConfigError, ContextLengthError, ModelError, TransientModelError
from dovetail.events.call import ModelRequest, ToolSpec
from dovetail.events.delta import (
    Delta,
    FinishDelta,
    ProviderPartDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from dovetail.requesters.langchain import LangchainRequester, build_history
from dovetail.requesters.limits import TimeLimits
from dovetail.requesters.prices import Price
from dovetail.requesters.requester import Requester
from dovetail.requesters.resolve import resolve
from dovetail.settings import DEFAULTS, Settings, as_settings
from dovetail.testing import Gate, Reply, ScriptedServer

HELLO = ModelRequest(messages=[{"role": "user", "content": "hello"}])
ADD = ToolSpec(name="add", description="adds", parameters={"type": "object", "properties": {}})


async def collect(requester: Requester, request: ModelRequest = HELLO) -> list[Delta]:
    return [delta async for delta in requester.stream(request)]


def join(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


class ChunkModel(GenericFakeChatModel):
    """A fake chat model that streams the chunks it is given."""

    chunks: list[Any]

    async def _astream(self, *arguments: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self.chunks:
            yield ChatGenerationChunk(message=chunk)


def chunk_model(*chunks: AIMessageChunk) -> LangchainRequester:
    return LangchainRequester(ChunkModel(messages=iter(()), chunks=list(chunks)))


async def test_text_streams_in_pieces() -> None:
    deltas = await collect(LangchainRequester(GenericFakeChatModel(messages=iter(["good day to you"]))))
    assert len(deltas) > 3
    assert join(deltas) == "good day to you"
    assert isinstance(deltas[-1], FinishDelta)


async def test_whole_answer_when_no_stream_is_asked_for() -> None:
    call = {"name": "add", "args": {"a": 1}, "id": "c1"}
    model = FakeMessagesListChatModel(responses=[AIMessage(content="hi", tool_calls=[call])])
    deltas = await collect(LangchainRequester(model), ModelRequest(messages=HELLO.messages, stream=False))
    assert deltas[:-1] == [TextDelta("hi"), ToolCallDelta(0, "c1", "add", '{"a": 1}')]
    assert isinstance(deltas[-1], FinishDelta)
    assert deltas[-1].reason == "tool-calls"


async def test_reasoning_blocks_calls_and_usage_of_chunks_are_read() -> None:
    usage = {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}
    later = {
        "input_tokens": 0,
        "output_tokens": 3,
        "total_tokens": 3,
        "input_token_details": {"cache_read": 4},
        "output_token_details": {"reasoning": 2},
    }
    calls = [
        {"name": "add", "args": '{"a"', "id": "c1", "index": 0},
        {"name": None, "args": ":1}", "id": None, "index": 0},
    ]
    deltas = await collect(
        chunk_model(
            AIMessageChunk(
                content=[{"type": "thinking", "thinking": "hm", "index": 0}], usage_metadata=usage
            ),
            AIMessageChunk(content="", additional_kwargs={"reasoning_content": "so"}),
            AIMessageChunk(content=[{"type": "text", "text": "Hi", "index": 1}]),
            AIMessageChunk(content="", tool_call_chunks=[calls[0]]),
            AIMessageChunk(content="", tool_call_chunks=[calls[1]]),
            AIMessageChunk(
                content="",
                usage_metadata=later,
                response_metadata={"stop_reason": "tool_use", "model_name": "m"},
            ),
        )
    )
    assert deltas[:-1] == [
        ReasoningDelta("hm"),
        ReasoningDelta("so"),
        TextDelta("Hi"),
        ToolCallDelta(0, "c1", "add", '{"a"'),
        ToolCallDelta(0, arguments=":1}"),
    ]
    finish = deltas[-1]
    assert isinstance(finish, FinishDelta)
    assert (finish.reason, finish.usage, finish.model) == ("tool-calls", Usage(5, 4, 4, 2), "m")


async def test_it_says_honestly_what_it_can() -> None:
    requester = LangchainRequester(FakeListChatModel(responses=["x"]))
    assert (requester.model, requester.follows_schema, requester.calls_tools) == (
        "langchain:FakeListChatModel",
        False,
        False,
    )
    assert isinstance(requester, Requester)


def test_chat_model_is_resolved_as_it_is_given_with_its_price() -> None:
    prices = {"FakeListChatModel": {"input": 1, "output": 1}}
    settings = Settings({"model": {"prices": prices}}, parent=Settings(DEFAULTS))
    assert isinstance(resolve(FakeListChatModel(responses=["x"]), settings), LangchainRequester)


async def test_error_of_the_model_is_a_model_error() -> None:
    model = FakeListChatModel(responses=["abc"], error_on_chunk_number=1)
    with pytest.raises(ModelError, match="langchain:FakeListChatModel failed: FakeListChatModelError"):
        await collect(LangchainRequester(model))


async def test_broken_arguments_in_the_history_do_not_end_the_talk() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": '}}
    history = [
        *HELLO.messages,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "broken arguments"},
    ]
    model = GenericFakeChatModel(messages=iter(["well"]))
    assert join(await collect(LangchainRequester(model), ModelRequest(messages=history))) == "well"


openai = pytest.importorskip(
    "langchain_openai", reason="the OpenAI chat model of LangChain is another package"
)


def open_ai(server: ScriptedServer, **options: Any) -> Any:
    return openai.ChatOpenAI(
        model="m", base_url=server.url, api_key="sk-secret-42", max_retries=0, stream_usage=True, **options
    )


async def test_openai_chat_model_streams_calls_and_usage() -> None:
    usage = Usage(1000, 500)
    reply = {"text": "so: ", "tool_calls": [{"name": "add", "arguments": {"a": 1}}], "usage": usage}
    async with ScriptedServer([reply]) as server:
        requester = LangchainRequester(open_ai(server), price=Price(input=1, output=2))
        request = ModelRequest(
            messages=HELLO.messages, tools=[ADD], tool_choice="required", options={"temperature": 0}
        )
        deltas = await collect(requester, request)
    assert requester.calls_tools
    assert requester.model == "langchain:m"
    assert deltas[0] == TextDelta("so: ")
    assert deltas[1] == ToolCallDelta(0, "call_1", "add", "")
    assert "".join(delta.arguments for delta in deltas if isinstance(delta, ToolCallDelta)) == '{"a": 1}'
    finish = deltas[-1]
    assert isinstance(finish, FinishDelta)
    assert finish.reason == "tool-calls"
    assert (finish.usage.input_tokens, finish.usage.cost) == (1000, pytest.approx(0.002))
    body = server.requests[0].body
    assert (body["tools"][0]["function"]["name"], body["tool_choice"], body["temperature"]) == (
        "add",
        "required",
        0,
    )


async def test_refused_request_is_a_model_error_without_the_key() -> None:
    async with ScriptedServer(
        [Reply(status=503, body={"error": {"message": "bad key sk-secret-42"}})]
    ) as server:
        with pytest.raises(TransientModelError) as caught:
            await collect(LangchainRequester(open_ai(server)))
    error = caught.value
    assert (error.status, error.provider) == (503, "langchain")
    assert "sk-secret-42" not in f"{error}{error!r}{error.__cause__!r}{error.__context__!r}"


async def test_model_that_stalls_is_left_in_time() -> None:
    async with ScriptedServer([["a", Gate("never opened")]]) as server:
        requester = LangchainRequester(open_ai(server), limits=TimeLimits(idle=0.05))
        stream = requester.stream(HELLO)
        assert await anext(stream) == TextDelta("a")
        with pytest.raises(TransientModelError, match=r"No response from .* within 0.05 s"):
            await anext(stream)


async def test_signed_thinking_goes_back_to_the_model_that_wrote_it() -> None:
    def block(**fields: Any) -> AIMessageChunk:
        return AIMessageChunk(content=[{"type": "thinking", "index": 0, **fields}])

    requester = chunk_model(
        block(thinking="Let me "),
        block(thinking="see."),
        block(signature="c2lnbmVk"),
        AIMessageChunk(content=[{"type": "redacted_thinking", "data": "aGlkZGVu", "index": 1}]),
        AIMessageChunk(content="Done."),
    )
    deltas = await collect(requester)
    parts = [delta for delta in deltas if isinstance(delta, ProviderPartDelta)]
    thinking = {"type": "thinking", "index": 0, "thinking": "Let me see.", "signature": "c2lnbmVk"}
    redacted = {"type": "redacted_thinking", "data": "aGlkZGVu", "index": 1}
    assert [part.data for part in parts] == [thinking, redacted]
    assert isinstance(deltas[deltas.index(parts[1]) + 1], TextDelta)
    answer = {
        "role": "assistant",
        "content": "Done.",
        "provider_parts": [
            {"source": part.source, "text": 0, "calls": 0, "data": part.data} for part in parts
        ],
    }
    history = [*HELLO.messages, answer]
    (_, own), (_, other) = (build_history(history, source) for source in (parts[0].source, "langchain:Other"))
    assert own["content"] == [thinking, redacted, {"type": "text", "text": "Done."}]
    assert other["content"] == "Done."


async def test_model_of_an_integration_is_named_and_answers() -> None:
    with ScriptedServer([["Hel", "lo"]]) as server:
        own = {"base_url": server.url, "api_key": "sk-secret", "options": {"temperature": 0.5}}
        settings = as_settings({"model": {"providers": {"langchain": own}}})
        requester = resolve("langchain:openai:gpt-4.1", settings)
        deltas = await collect(requester)
    assert join(deltas) == "Hello"
    assert requester.model == "langchain:openai:gpt-4.1"
    assert server.requests[0].body["model"] == "gpt-4.1"
    assert server.requests[0].body["temperature"] == 0.5
    assert "sk-secret" not in repr(requester)
    assert getattr(requester, "secrets", ()) == ["sk-secret"]


def test_named_model_calls_a_tool_and_reads_its_result() -> None:
    call = {"tool_calls": [{"call_id": "c1", "name": "double", "arguments": {"number": 21}}]}
    with ScriptedServer([call, "It is 42."]) as server:
        own = {"base_url": server.url, "api_key": "sk-secret"}
        model = {"name": "langchain:openai:gpt-4.1", "providers": {"langchain": own}}
        agent = Agent(settings={"model": model, "tools": {"strategy": "native"}})

        def double(number: int) -> int:
            """Double a number."""
            return 2 * number

        answer = agent.use_tool(double).input("What is 2 * 21?").start()
    assert answer == "It is 42."
    assert server.requests[1].body["messages"][-1]["content"] == "42"


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("langchain:gpt-4.1", "expected langchain:<provider>:<model>", "langchain:anthropic:"),
        ("langchain:anthropic:claude-x", "Cannot use model", "pip install langchain-anthropic"),
        ("langchain:opnai:x", "Unknown provider 'opnai' in .*Did you mean 'openai'", ""),
        ("langchain:nothing:x", "Unknown provider 'nothing' in .*Expected one of: .*anthropic", ""),
    ],
)
def test_name_that_cannot_be_used_says_what_is_missing(name: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        resolve(name, as_settings({}))
    assert hint in str(caught.value.hint)


async def test_refusals_of_a_named_model_have_our_errors() -> None:
    too_long = {"error": {"message": "This model's maximum context length is 8192 tokens.", "code": "x"}}
    replies = [{"status": 400, "body": too_long}, {"status": 429}]
    with ScriptedServer(replies) as server:
        own = {"base_url": server.url, "api_key": "sk-secret", "options": {"max_retries": 0}}
        settings = as_settings({"model": {"providers": {"langchain": own}}})
        requester = resolve("langchain:openai:gpt-4.1", settings)
        with pytest.raises(ContextLengthError, match=r"langchain:openai:gpt-4\.1 failed"):
            await collect(requester)
        with pytest.raises(TransientModelError):
            await collect(requester)
