"""The models that can be used here, with their state, price and window."""

from pathlib import Path
from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.requesters.survey import Survey
from dovetail.settings import DEFAULTS, Settings
from model_servers import Received, clear_variables, run_server, send_json


@pytest.fixture(autouse=True)
def nothing_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    clear_variables(monkeypatch)
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))


def look(**model: Any) -> Survey:
    return Survey(Settings({"model": model}, parent=Settings(DEFAULTS)))


def list_two(_: Received) -> Any:
    return send_json({"data": [{"id": "one"}, {"id": "two"}]})


def test_without_any_model_none_is_in_use() -> None:
    survey = look(download=False)
    assert survey.active is None
    assert list(survey.list_chosen()) == []
    assert [entry.state for entry in survey.list_embedded()] == [
        "not downloaded: dovetail models pull good",
        "not downloaded: dovetail models pull small",
    ]


def test_without_any_model_the_good_one_is_in_use_before_it_is_downloaded() -> None:
    assert look().active == "local:good"


def test_model_in_use_and_fallbacks_have_price_and_window() -> None:
    survey = look(name="openai:gpt-5-mini", api_key="sk-x", fallbacks=["anthropic:claude-sonnet-4-5"])
    first, second = [entry.to_dict() for entry in survey.list_chosen()]
    assert (first["name"], first["active"], first["free"]) == ("openai:gpt-5-mini", True, False)
    assert first["price"] == {"input": 0.25, "output": 2.0}
    assert first["context_tokens"] == 400_000
    assert (second["name"], second["active"], second["state"]) == (
        "anthropic:claude-sonnet-4-5",
        False,
        "fallback, not set up: set ANTHROPIC_API_KEY or model.providers.anthropic.api_key",
    )


def test_model_in_use_without_a_key_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = look(name="anthropic:claude-sonnet-4-5")
    [entry] = survey.list_chosen()
    assert (entry.is_active, entry.is_ready) == (True, False)
    assert entry.state.startswith("in use, not set up: set ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    assert [(entry.state, entry.is_ready) for entry in survey.list_chosen()] == [("in use", True)]


def test_wrong_name_of_the_model_is_a_problem() -> None:
    survey = look(name="antropic:claude-sonnet-4-5")
    assert survey.active is None
    assert "Did you mean 'anthropic'?" in survey.problem
    assert look().problem == ""


async def test_only_set_up_and_local_providers_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with run_server(list_two) as server:
        survey = look(
            providers={
                "groq": {"base_url": f"{server.url}/groq", "api_key": "sk-groq"},
                "mine": {"base_url": f"{server.url}/mine"},
            }
        )
        entries = {entry.configured.name: entry.to_dict() for entry in await survey.list_providers()}
    assert sorted(each.path for each in server.requests) == ["/groq/models", "/mine/models"]
    assert [model["name"] for model in entries["groq"]["models"]] == ["groq:one", "groq:two"]
    assert (entries["groq"]["reachable"], entries["mine"]["reachable"]) == (True, True)
    assert entries["openai"]["reachable"] is None
    assert "OPENAI_API_KEY" in entries["openai"]["state"]
    assert entries["llamacpp"]["local"]
    assert "sk-groq" not in str(entries)


async def test_one_provider_is_listed_or_its_missing_key_named() -> None:
    with run_server(list_two) as server:
        entry = await look(providers={"vllm": {"base_url": f"{server.url}/v1"}}).list_provider("vllm")
    assert [model.name for model in entry.models] == ["vllm:one", "vllm:two"]
    with pytest.raises(ConfigError, match="Missing API key for Google Gemini"):
        await look().list_provider("gemini")
    with pytest.raises(ConfigError, match=r"Unknown provider 'olama'\. Did you mean 'ollama'"):
        await look().list_provider("olama")
