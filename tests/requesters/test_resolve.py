"""A model's name, with the settings, means one requester."""

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

from dovetail.errors import ConfigError, ModelError
from dovetail.events.call import ModelRequest
from dovetail.requesters.fallback import FallbackRequester
from dovetail.requesters.http.requester import HttpRequester
from dovetail.requesters.local import weights
from dovetail.requesters.prices import Price
from dovetail.requesters.resolve import resolve
from dovetail.requesters.warn import warn_once
from dovetail.settings import DEFAULTS, Settings
from dovetail.testing import ScriptedRequester, ScriptedServer
from model_servers import clear_variables


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[None]:
    clear_variables(monkeypatch)
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    return iter(())


def settings(**model: Any) -> Settings:
    return Settings({"model": model}, parent=Settings(DEFAULTS))


def open_ai(model: object, layer: Settings) -> HttpRequester:
    requester = resolve(model, layer)
    assert isinstance(requester, HttpRequester)
    return requester


def test_openai_name_takes_address_and_key_from_the_settings() -> None:
    requester = open_ai("openai:gpt", settings(base_url="http://127.0.0.1:1/v1", api_key="key"))
    endpoint = requester.endpoint
    assert (requester.model, endpoint.base_url, endpoint.api_key) == (
        "openai:gpt",
        "http://127.0.0.1:1/v1",
        "key",
    )


def test_setting_names_the_model_when_none_is_given() -> None:
    layer = settings(name="openai:gpt", api_key="key")
    assert resolve(None, layer).model == "openai:gpt"
    assert open_ai(None, layer).endpoint.base_url == "https://api.openai.com/v1"


def test_ollama_has_its_own_address_and_keeps_colons_of_the_name() -> None:
    requester = open_ai("ollama:qwen3:8b", settings())
    assert (requester.endpoint.base_url, requester.endpoint.model) == (
        "http://127.0.0.1:11434/v1",
        "qwen3:8b",
    )


def test_openai_s_key_of_the_environment_goes_to_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from-environment")
    assert open_ai("openai:gpt", settings()).endpoint.api_key == "from-environment"
    assert open_ai("openai:gpt", settings(base_url="http://elsewhere.test/v1")).endpoint.api_key is None


def test_address_and_key_are_not_shared_with_another_provider() -> None:
    layer = settings(name="openai:gpt", base_url="http://mine.test/v1", api_key="mine")
    endpoint = open_ai("ollama:qwen3", layer).endpoint
    assert (endpoint.base_url, endpoint.api_key) == ("http://127.0.0.1:11434/v1", None)


def test_further_provider_has_its_own_options_over_the_general_ones() -> None:
    deepseek = {"base_url": "https://api.deepseek.test", "api_key": "deep", "structured": "prompt"}
    layer = settings(providers={"deepseek": deepseek}, headers={"x-team": "blue"}, options={"top_p": 1})
    endpoint = open_ai("deepseek:chat", layer).endpoint
    assert (endpoint.provider, endpoint.base_url, endpoint.api_key) == (
        "deepseek",
        "https://api.deepseek.test",
        "deep",
    )
    assert (endpoint.structured, endpoint.headers, endpoint.options) == (
        "prompt",
        {"x-team": "blue"},
        {"top_p": 1},
    )


@pytest.mark.parametrize(
    ("name", "set_to", "follows"),
    [
        ("deepseek", None, False),
        ("deepseek", "schema", True),
        ("mistral", None, True),
        ("mistral", "prompt", False),
    ],
)
def test_a_schema_is_not_sent_to_a_provider_that_is_known_to_reject_it(
    name: str, set_to: str | None, follows: bool
) -> None:
    own = {"api_key": "k", **({"structured": set_to} if set_to else {})}
    assert open_ai(f"{name}:m", settings(providers={name: own})).follows_schema is follows


def test_limits_retries_and_price_are_read() -> None:
    layer = settings(
        timeouts={"idle": 3}, retries={"attempts": 2}, prices={"ollama:q*": {"input": 1, "output": 2}}
    )
    endpoint = open_ai("ollama:qwen3", layer).endpoint
    assert (endpoint.limits.idle, endpoint.limits.connect, endpoint.retries.attempts) == (3, 10.0, 2)
    assert endpoint.price == Price(input=1, output=2)


def test_fallbacks_follow_the_first_model() -> None:
    requester = resolve("ollama:a", settings(fallbacks=["ollama:b", "ollama:a"]))
    assert isinstance(requester, FallbackRequester)
    assert [one.model for one in requester.requesters] == ["ollama:a", "ollama:b"]


@pytest.mark.parametrize(
    ("fallback", "complaint"),
    [
        ("openai:x", "Fallback 'openai:x': Missing API key for OpenAI."),
        ("antropic:x", "Fallback 'antropic:x': Unknown provider 'antropic'"),
    ],
)
def test_fallback_that_cannot_be_used_is_named_as_one(fallback: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        resolve("ollama:a", settings(fallbacks=["ollama:b", fallback]))


async def test_what_a_server_refused_is_known_to_the_next_requester() -> None:
    refusal = {"status": 400, "body": {"error": {"message": "response_format is not supported"}}}
    request = ModelRequest(messages=[{"role": "user", "content": "hi"}], schema={"type": "object"})
    async with ScriptedServer([refusal, "{}"]) as server:
        layer = settings(base_url=server.url)
        first = resolve("openai:m", layer)
        assert [delta async for delta in first.stream(request)]
        assert not resolve("openai:m", layer).follows_schema
        assert resolve("openai:other", layer).follows_schema


def test_requester_is_taken_as_it_is() -> None:
    requester = ScriptedRequester([])
    assert resolve(requester, settings()) is requester


@pytest.mark.parametrize(
    ("model", "options", "complaint"),
    [
        ("nothing-like-it", {}, "Invalid model name 'nothing-like-it': expected provider:name"),
        ("openia:gpt", {}, "Unknown provider 'openia' in the model name 'openia:gpt'. Did you mean 'openai'"),
        ("openai:", {}, "Invalid model name 'openai:'"),
        (
            "mine:x",
            {"providers": {"mine": {}}},
            "Missing address of mine.\nSet model.providers.mine.base_url",
        ),
        ("openai:gpt", {}, "Missing API key for OpenAI"),
        (
            "ollama:q",
            {"structured": "yes"},
            "Unknown model.structured 'yes'. Expected one of: auto, schema, prompt",
        ),
        (
            "ollama:q",
            {"timeouts": {"idel": 1}},
            "Unknown setting 'model.timeouts.idel'. Did you mean 'model.timeouts.idle'?",
        ),
        (
            "ollama:q",
            {"retries": {"attempts": "3"}},
            "model.retries.attempts must be a whole number that is not negative, got '3'",
        ),
        (
            "ollama:q",
            {"base_url": "localhost:8000"},
            "Invalid base_url 'localhost:8000' of ollama: must begin with http",
        ),
        (
            "ollama:q",
            {"base_url": "ann:geheim@h/v1"},
            "Invalid base_url 'h/v1' of ollama: must begin with http",
        ),
        ("ollama:q", {"prices": {"q": 3}}, "model.prices.q must be a table, got 3"),
        (42, {}, "int is not a model"),
        (ScriptedRequester, {}, "ScriptedRequester is a class, not a model"),
        (GenericFakeChatModel, {}, "GenericFakeChatModel is a class, not a model"),
        (None, {"base_url": "http://127.0.0.1:1/v1"}, "model.base_url is set, but model.name is not"),
        (None, {"download": False}, "No model is configured, and local:good is not downloaded"),
        ("local:huge", {}, "Unknown embedded model 'huge'"),
    ],
)
def test_wrong_setting_is_reported_with_its_value(
    model: object, options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        resolve(model, settings(**options))


@pytest.mark.parametrize(
    ("model", "options", "remedy"),
    [
        ("openai:gpt-5-mini", {}, "keys"),
        ("mistral:7b", {}, "keys"),
        ("ollama:qwen3", {"fallbacks": ["openai:gpt-5-mini"]}, "keys"),
        (None, {"download": False}, "models"),
        ("gpt-5-mini", {}, "models"),
        ("openai:", {}, "models"),
        ("nowhere:gpt", {}, "models"),
        (42, {}, None),
    ],
)
def test_what_is_missing_names_the_place_where_an_operator_sets_it(
    model: object, options: dict[str, Any], remedy: str | None
) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(model, settings(**options))
    assert caught.value.remedy == remedy


def test_model_of_the_settings_may_be_a_requester() -> None:
    scripted = ScriptedRequester([])
    assert resolve(None, settings(name=scripted)) is scripted
    assert "qwen3" in open_ai("ollama:qwen3", settings(name=scripted)).model


def test_name_of_the_settings_that_cannot_be_used_does_not_matter_to_another_model() -> None:
    providers = {"vllm": {"base_url": "http://h/v1"}}
    assert resolve("vllm:x", settings(name="gpt-5-mini", providers=providers)).model == "vllm:x"
    with pytest.raises(ConfigError, match="gpt-5-mini"):
        resolve(None, settings(name="gpt-5-mini", providers=providers))


def test_tag_of_ollama_after_a_provider_s_name_is_explained() -> None:
    with pytest.raises(ConfigError, match="Missing API key for Mistral") as caught:
        resolve("mistral:7b", settings())
    assert "write ollama:mistral:7b." in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        resolve("mistral:mistral-large-latest", settings())
    assert "ollama" not in str(caught.value)


def put(name: str) -> None:
    """A file that stands for downloaded weights."""
    entry = weights.get_weights(name)
    path = weights.cache_folder() / entry.file_name
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        file.truncate(entry.size)


def test_good_model_is_the_default_also_before_it_is_downloaded_and_next_to_the_small_one() -> None:
    assert resolve(None, settings()).model == "local:good"
    put("small")
    assert resolve(None, settings()).model == "local:good"
    assert resolve("local:small", settings()).model == "local:small"


def test_small_model_does_not_stand_in_where_downloads_are_forbidden() -> None:
    put("small")
    with pytest.raises(ConfigError, match="local:good is not downloaded") as caught:
        resolve(None, settings(download=False))
    assert "dovetail models pull good" in str(caught.value)
    assert resolve("local:small", settings(download=False)).model == "local:small"
    put("good")
    assert resolve(None, settings(download=False)).model == "local:good"


def test_small_model_says_that_its_answers_are_placeholders_also_if_it_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    warn_once.cache_clear()
    put("small")
    for _ in range(2):
        resolve("local:small", settings())
        resolve(None, settings(name="small"))
    [line] = caplog.messages
    assert line.startswith("local:small has 135 million parameters: its answers are placeholders.")
    assert "local:good" in line


def test_named_model_that_is_not_downloaded_needs_downloads() -> None:
    assert resolve("local:good", settings()).model == "local:good"
    with pytest.raises(ModelError, match="dovetail models pull good"):
        resolve("local:good", settings(download=False))
