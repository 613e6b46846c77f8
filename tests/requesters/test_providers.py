"""The table of providers: complete rows, and a request through each name as its provider wants it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from dovetail import Agent
from dovetail.requesters.providers import ALIASES, PROVIDERS, find_provider
from model_servers import Answer, Received, clear_variables, run_server, send_events

NAMES = (
    "anthropic google openai azure bedrock openrouter deepseek mistral groq xai together fireworks "
    "vllm lmstudio ollama llamacpp"
)


def test_every_promised_provider_has_a_row() -> None:
    assert list(PROVIDERS) == NAMES.split()


def test_row_has_an_address_or_a_variable_for_it() -> None:
    for row in PROVIDERS.values():
        assert row.base_url or row.address_variable, row.name
        assert not row.base_url.endswith("/")


def test_only_servers_on_this_machine_have_plain_http_and_need_no_key() -> None:
    for row in PROVIDERS.values():
        is_plain = urlsplit(row.base_url).scheme == "http"
        assert is_plain == row.is_local, row.name
        assert row.keys or row.is_local, row.name


def test_key_variable_belongs_to_one_provider() -> None:
    keys = [key for row in PROVIDERS.values() for key in row.keys]
    assert len(keys) == len(set(keys))


def test_alias_leads_to_a_row_and_hides_none() -> None:
    assert not ALIASES.keys() & PROVIDERS.keys()
    assert all(find_provider(alias) is PROVIDERS[name] for alias, name in ALIASES.items())
    assert find_provider("nobody") is None


def answer_chat(_: Received) -> Answer:
    return send_events({"choices": [{"index": 0, "delta": {"content": "Hello"}}]}, "[DONE]")


def find_text(received: Received) -> Any:
    """The user's text in a body, whatever the API."""
    return "Good day" in str(received.body)


ANSWERS = {"chat": answer_chat}


@dataclass(frozen=True)
class Wanted:
    """What a provider wants: the path of a request under its address, and the header of the key."""

    path: str = "/chat/completions"
    header: str = "authorization"
    key: str = "Bearer sk-right"


WANTED: Mapping[str, Wanted] = {
    "openai": Wanted(),
    "azure": Wanted(path="/openai/v1/chat/completions", header="api-key", key="sk-right"),
    "openrouter": Wanted(),
    "deepseek": Wanted(),
    "mistral": Wanted(),
    "groq": Wanted(),
    "xai": Wanted(),
    "together": Wanted(),
    "fireworks": Wanted(),
    "vllm": Wanted(),
    "lmstudio": Wanted(),
    "ollama": Wanted(),
    "llamacpp": Wanted(),
}


@pytest.mark.parametrize("name", WANTED)
def test_request_through_a_name_arrives_as_its_provider_wants_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear_variables(monkeypatch)
    row, wanted = PROVIDERS[name], WANTED[name]
    path = urlsplit(row.base_url).path
    with run_server(ANSWERS[row.api]) as server:
        options = {"base_url": f"{server.url}{path}", "api_key": "sk-right"}
        agent = Agent(model=f"{name}:some-model", settings={"model": {"providers": {name: options}}})
        assert agent.input("Good day").start() == "Hello"
        [received] = server.requests
    assert (received.method, received.path) == ("POST", f"{path}{wanted.path}")
    assert received.headers[wanted.header] == wanted.key
    assert [header for header, value in received.headers.items() if "sk-right" in value] == [wanted.header]
    assert "some-model" in (received.body.get("model"), *received.path.split("/"))
    assert find_text(received)


@pytest.mark.parametrize("name", WANTED)
def test_key_of_the_environment_reaches_its_provider(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clear_variables(monkeypatch)
    row = PROVIDERS[name]
    for variable in row.keys[:1]:
        monkeypatch.setenv(variable, "sk-environment")
    with run_server(ANSWERS[row.api]) as server:
        options = {"base_url": f"{server.url}{urlsplit(row.base_url).path}"}
        agent = Agent(model=f"{name}:m", settings={"model": {"providers": {name: options}}})
        assert agent.input("Good day").start() == "Hello"
        [received] = server.requests
    assert bool(row.keys) == any("sk-environment" in value for value in received.headers.values())
