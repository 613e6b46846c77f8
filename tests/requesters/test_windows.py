"""The window of a model: learned from its server or a refusal, otherwise published."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from dovetail.errors import ContextLengthError
from dovetail.events.call import ModelRequest
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.openai.requester import OpenAIRequester
from dovetail.requesters.windows import TRIES, Window
from dovetail.testing import Reply, ScriptedServer


class Server:
    """The routes of a model server, and the paths that were asked for."""

    def __init__(self, routes: Mapping[str, Any]) -> None:
        self.routes = routes
        self.asked: list[str] = []

    async def fetch(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        self.asked.append(path)
        return self.routes.get(path)


def listed(**entry: Any) -> dict[str, Any]:
    return {"models": {"data": [{"id": "other", "context_length": 1000}, {"id": "m", **entry}]}}


@pytest.mark.parametrize(
    ("provider", "routes"),
    [
        ("vllm", listed(max_model_len=32_768)),
        ("openrouter", listed(context_length=99_999, top_provider={"context_length": 32_768})),
        ("groq", listed(context_window=32_768)),
        ("mistral", listed(max_context_length=32_768)),
        ("together", {"models": [{"id": "m", "context_length": 32_768}]}),
        ("google", {"models": {"models": [{"name": "models/m", "inputTokenLimit": 32_768}]}}),
        ("anthropic", {"models": {"data": []}, "models/m": {"id": "m", "max_input_tokens": 32_768}}),
        ("openai", {"models": {"data": [{"id": "a.gguf", "meta": {"n_ctx_train": 32_768}}]}}),
        (
            "openai",
            {
                "models": {
                    "data": [{"id": "a.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 99_999}}]
                },
                "../props": {"default_generation_settings": {"n_ctx": 32_768}},
            },
        ),
        ("llamacpp", {"models": {"data": [{"id": "a.gguf", "meta": {"n_ctx": 32_768}}]}}),
        (
            "lmstudio",
            {
                "../api/v0/models": {
                    "data": [{"id": "m", "loaded_context_length": 32_768, "max_context_length": 99_999}]
                }
            },
        ),
        ("ollama", {"../api/ps": {"models": [{"model": "m:latest", "context_length": 32_768}]}}),
        (
            "openai",
            {
                "models": {"data": [{"id": "m", "owned_by": "library"}]},
                "../api/ps": {"models": [{"name": "m", "context_length": 32_768}]},
            },
        ),
        (
            "ollama",
            {"../api/ps": {"models": []}, "../api/show": {"parameters": "stop x\nnum_ctx    32768"}},
        ),
    ],
)
async def test_each_server_has_its_own_word_for_the_window(provider: str, routes: dict[str, Any]) -> None:
    window = Window(provider, "m", f"{provider}:m")
    assert window.known is None
    assert await window.find("models", Server(routes).fetch) == 32_768
    assert window.known == 32_768


async def test_published_window_needs_no_question() -> None:
    server = Server({})
    window = Window("openai", "gpt-4.1", "openai:gpt-4.1")
    assert await window.find("models", server.fetch) == 1_000_000
    assert server.asked == []


async def test_server_that_does_not_say_is_asked_once() -> None:
    server = Server(listed())
    window = Window("openai", "m", "openai:m")
    assert [await window.find("models", server.fetch) for _ in range(3)] == [None, None, None]
    assert server.asked == ["models", "models/m"]


async def test_list_with_a_query_is_not_part_of_the_path_of_one_model() -> None:
    server = Server({"models/m": {"max_input_tokens": 32_768}})
    assert await Window("anthropic", "m", "anthropic:m").find("models?limit=1000", server.fetch) == 32_768
    assert server.asked == ["models?limit=1000", "models/m"]


async def test_model_that_ollama_has_not_loaded_is_asked_for_again() -> None:
    server = Server({"../api/ps": {"models": []}, "../api/show": {"parameters": "stop x"}})
    window = Window("ollama", "m", "ollama:m")
    assert await window.find("models", server.fetch) is None
    server.routes = {"../api/ps": {"models": [{"name": "m", "context_length": 4096}]}}
    assert await window.find("models", server.fetch) == 4096


@pytest.mark.parametrize(
    "junk", [None, [], "no", {"data": "no"}, {"data": [3]}, listed(context_length=-1)["models"]]
)
async def test_nonsense_is_ignored(junk: Any) -> None:
    assert await Window("openai", "m", "openai:m").find("models", Server({"models": junk}).fetch) is None
    ollama = Window("ollama", "m", "ollama:m")
    for _ in range(TRIES + 1):
        assert await ollama.find("models", Server({"../api/ps": junk, "../api/show": junk}).fetch) is None


def test_word_of_a_refusal_goes_before_the_published_window() -> None:
    window = Window("openai", "gpt-4.1", "openai:gpt-4.1")
    window.learn(8192)
    assert window.known == 8192
    window.learn(0)
    window.learn(None)
    assert window.known == 8192


async def test_requesters_of_one_server_share_what_it_said() -> None:
    async with ScriptedServer() as server:
        server.description = {"max_model_len": 16_384}
        first, second = (
            OpenAIRequester(Endpoint(provider="vllm", model="scripted", base_url=server.url)) for _ in "ab"
        )
        assert first.context_tokens is None
        assert await first.find_context_tokens() == 16_384
        assert second.context_tokens == 16_384
        await first.close()


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_refusal_teaches_the_window_also_from_inside_an_answer(is_streamed: bool) -> None:
    error = {
        "message": "This model's maximum context length is 8192 tokens.",
        "code": "context_length_exceeded",
    }
    told = json.dumps({"error": error})
    reply = [f"data: {told}\n\n".encode()] if is_streamed else Reply(status=400, body=told)
    async with ScriptedServer([reply]) as server:
        requester = OpenAIRequester(Endpoint(model="m", base_url=server.url))
        with pytest.raises(ContextLengthError) as caught:
            async for _ in requester.stream(ModelRequest(messages=[{"role": "user", "content": "hi"}])):
                pass
        await requester.close()
    assert (caught.value.limit, requester.context_tokens) == (8192, 8192)


async def test_silent_server_is_not_waited_for() -> None:
    window = Window("openai", "m", "openai:m")

    async def refuse(path: str, body: Mapping[str, Any] | None = None) -> Any:
        raise TimeoutError

    assert [await window.find("models", refuse) for _ in range(TRIES + 2)] == [None] * (TRIES + 2)
