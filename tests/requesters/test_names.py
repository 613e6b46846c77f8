"""A name means a provider and a model; without a provider, the one configured provider that knows it."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.requesters.configured import ConfiguredProvider
from dovetail.requesters.http.requester import HttpRequester
from dovetail.requesters.names import complete_name
from dovetail.requesters.resolve import resolve
from dovetail.settings import DEFAULTS, Settings
from dovetail.settings.model import ModelSettings
from model_servers import Received, clear_variables, run_server, send_json
from patience import PATIENCE


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    clear_variables(monkeypatch)


def settings(**model: Any) -> Settings:
    return Settings({"model": model}, parent=Settings(DEFAULTS))


def complete(name: str, listed: Sequence[str] = (), /, **model: Any) -> tuple[str, str]:
    def list_models(servers: Sequence[ConfiguredProvider]) -> Mapping[str, Sequence[str]]:
        return {each.name: listed for each in servers}

    return complete_name(name, settings(**model).section(ModelSettings), ["local"], list_models)


def complain(name: str, **model: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        complete(name, **model)
    return caught.value


def test_first_colon_ends_the_provider() -> None:
    assert complete("ollama:qwen3:8b") == ("ollama", "qwen3:8b")
    assert complete("openrouter:openai/gpt-5-mini") == ("openrouter", "openai/gpt-5-mini")


def test_alias_stands_for_its_provider_unless_the_settings_have_it() -> None:
    assert complete("gemini:gemini-2.5-pro") == ("google", "gemini-2.5-pro")
    assert complete("claude:claude-sonnet-4-5") == ("anthropic", "claude-sonnet-4-5")
    assert complete("gemini:x", providers={"gemini": {"base_url": "http://h"}}) == ("gemini", "x")


@pytest.mark.parametrize(
    ("variable", "name", "provider"),
    [
        ("OPENAI_API_KEY", "gpt-5-mini", "openai"),
        ("OPENAI_API_KEY", "o4-mini", "openai"),
        ("ANTHROPIC_API_KEY", "claude-sonnet-4-5", "anthropic"),
        ("GEMINI_API_KEY", "gemini-2.5-flash", "google"),
        ("DEEPSEEK_API_KEY", "deepseek-chat", "deepseek"),
        ("MISTRAL_API_KEY", "magistral-medium-latest", "mistral"),
        ("XAI_API_KEY", "grok-4", "xai"),
        ("GROQ_API_KEY", "llama-3.3-70b-versatile", "groq"),
        ("OPENROUTER_API_KEY", "openai/gpt-5-mini", "openrouter"),
    ],
)
def test_bare_name_belongs_to_the_configured_provider_that_knows_it(
    variable: str, name: str, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "sk-key")
    assert complete(name) == (provider, name)


def test_bare_name_without_any_key_lists_names_to_type_and_the_keys_they_need() -> None:
    error = complain("gpt-5-mini")
    assert error.message == "Model name 'gpt-5-mini' has no provider, and no configured provider knows it."
    first, *names = str(error.hint).splitlines()
    assert first == "Write one of:"
    assert names[0] == "  openai:gpt-5-mini   (set OPENAI_API_KEY or model.providers.openai.api_key)"
    assert any("  openrouter:openai/gpt-5-mini   (set OPENROUTER_API_KEY" in name for name in names)


def test_names_that_differ_in_dots_only_are_suggested() -> None:
    assert "openrouter:anthropic/claude-sonnet-4.5 " in str(complain("claude-sonnet-4-5").hint)


def test_suggestion_with_a_known_key_asks_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-key")
    hint = str(complain("gpt-5-mini").hint).splitlines()
    assert "  openrouter:openai/gpt-5-mini" in hint


def test_name_that_two_configured_providers_know_is_ambiguous(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "sk-key")
    mine = {"mine": {"base_url": "http://h"}}
    with pytest.raises(ConfigError, match="several configured providers have it") as caught:
        complete("llama-3.3-70b-versatile", ["llama-3.3-70b-versatile"], providers=mine)
    assert caught.value.hint == "Write groq:llama-3.3-70b-versatile or mine:llama-3.3-70b-versatile."


def test_slash_instead_of_a_colon_is_recognized() -> None:
    hint = str(complain("groq/some-model").hint)
    assert "groq:some-model   (set GROQ_API_KEY" in hint


def test_tag_of_ollama_is_recognized() -> None:
    assert "ollama:qwen3:8b" in str(complain("qwen3:8b").hint)
    assert "ollama:" not in str(complain("foo:bar").hint)


@pytest.mark.parametrize(
    "name", ["llama3.1:8b", "qwen3", "llama3.2", "deepseek-r1:8b", "library/qwen3:latest"]
)
def test_name_of_ollama_is_offered_with_its_provider(name: str) -> None:
    assert f"  ollama:{name}" in str(complain(name).hint).splitlines()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("OpenAI:gpt-5-mini", ("openai", "gpt-5-mini")),
        ("Claude:claude-sonnet-4-5", ("anthropic", "claude-sonnet-4-5")),
        ("LOCAL:small", ("local", "small")),
        ("SMALL", ("local", "small")),
        ("openai: gpt-5-mini ", ("openai", "gpt-5-mini")),
        (" ollama :Qwen3", ("ollama", "Qwen3")),
    ],
)
def test_case_of_a_provider_and_spaces_do_not_matter(written: str, meant: tuple[str, str]) -> None:
    assert complete(written) == meant


def test_provider_of_the_settings_is_found_in_any_case() -> None:
    assert complete("acme:M", providers={"Acme": {"base_url": "http://h"}}) == ("Acme", "M")


def test_case_of_a_bare_name_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "  openai:gpt-5-mini " in str(complain("GPT-5-mini").hint)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-key")
    assert complete("GPT-5-mini") == ("openai", "gpt-5-mini")


@pytest.mark.parametrize("word", ["vertex", "google_genai", "Vertex_AI"])
def test_other_library_s_word_for_a_provider_is_translated(word: str) -> None:
    error = complain(f"{word}:gemini-2.5-pro")
    assert error.message == f"Unknown provider {word!r} in the model name '{word}:gemini-2.5-pro'."
    assert "  google:gemini-2.5-pro   (set GEMINI_API_KEY" in str(error.hint)


@pytest.mark.parametrize("name", ["moonshot:kimi-k2", "zai:glm-4.6", "foo:bar"])
def test_unknown_provider_is_reported_with_the_setting_that_adds_it(name: str) -> None:
    error, provider = complain(name), name.partition(":")[0]
    assert error.message == f"Unknown provider {provider!r} in the model name {name!r}."
    assert f"et model.providers.{provider}.base_url to the address" in str(error.hint)
    assert "ollama:" not in str(error.hint)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("./copy.gguf", "local:./copy.gguf"),
        ("/models/copy.gguf", "local:/models/copy.gguf"),
        ("copy.gguf", "local:copy.gguf"),
        ("gguf:copy.gguf", "local:copy.gguf"),
        ("local/small", "local:small"),
    ],
)
def test_path_of_a_file_is_offered_as_an_embedded_model(written: str, meant: str) -> None:
    assert str(complain(written).hint) == f"Write:\n  {meant}"


def test_file_in_the_folders_of_the_settings_needs_no_prefix(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(b"")
    assert complete("tiny", folders=[str(tmp_path)]) == ("local", "tiny")
    assert "Invalid model name 'tiny'" in complain("tiny").message


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("claude", "anthropic:claude-sonnet-5-5"),
        ("anthropic", "anthropic:claude-sonnet-5-5"),
        ("anthropic:", "anthropic:claude-sonnet-5-5"),
        ("local", "local:good"),
        ("ollama", "ollama:qwen3"),
    ],
)
def test_provider_without_a_model_is_reported_with_an_example(name: str, example: str) -> None:
    error = complain(name)
    assert "the name of its model is missing" in error.message
    assert str(error.hint).endswith(f"for example {example}")


def test_misspelt_provider_is_corrected() -> None:
    assert complain("antropic:claude").message == (
        "Unknown provider 'antropic' in the model name 'antropic:claude'. Did you mean 'anthropic'?"
    )


def test_unknown_name_lists_the_providers() -> None:
    error = complain("nothing-like-it")
    assert "anthropic, google, openai" in str(error.hint)
    assert "gemini" not in str(error.hint)


def test_embedded_model_needs_no_prefix() -> None:
    assert complete("small") == ("local", "small")


def test_bare_name_with_an_address_is_a_model_of_that_server() -> None:
    assert complete("qwen3", name="qwen3", base_url="http://h/v1") == ("openai", "qwen3")


@pytest.mark.parametrize("name", ["my-model", "gpt-5-mini", "llama3.1:8b"])
def test_bare_name_that_is_passed_with_an_address_is_a_model_of_that_server(name: str) -> None:
    requester = resolve(name, settings(base_url="http://h/v1"))
    assert isinstance(requester, HttpRequester)
    assert (requester.model, requester.endpoint.base_url) == (f"openai:{name}", "http://h/v1")


def test_bare_name_belongs_to_the_server_of_the_configured_model() -> None:
    layer = settings(name="groq:a", base_url="http://h/v1", api_key="key")
    assert resolve("my-model", layer).model == "groq:my-model"
    assert complete("small", name="groq:a", base_url="http://h/v1") == ("local", "small")


def test_server_of_the_user_is_asked_once_for_its_models() -> None:
    def answer(received: Received) -> Any:
        return send_json({"data": [{"id": "house-model"}]})

    with run_server(answer) as server:
        layer = settings(providers={"vllm": {"base_url": f"{server.url}/v1"}})
        assert resolve("house-model", layer).model == "vllm:house-model"
        assert resolve("house-model", layer).model == "vllm:house-model"
        assert [each.path for each in server.requests] == ["/v1/models"]


def test_server_that_is_down_knows_no_names() -> None:
    layer = settings(providers={"vllm": {"base_url": "http://127.0.0.1:9/v1"}})
    with pytest.raises(ConfigError, match="Invalid model name 'house-model'"):
        resolve("house-model", layer)


def test_servers_are_asked_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=PATIENCE)

    def answer(received: Received) -> Any:
        both.wait()
        return send_json({"data": [{"id": f"{received.path.split('/')[1]}-model"}]})

    with run_server(answer) as server:
        providers = {name: {"base_url": f"{server.url}/{name}"} for name in ("vllm", "house")}
        assert resolve("house-model", settings(providers=providers)).model == "house:house-model"
