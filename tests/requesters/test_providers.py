"""The table of providers: complete rows, and a request through each name as its provider wants it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from aws_frames import write_answer
from dovetail import Agent
from dovetail.requesters.providers import ALIASES, PROVIDERS, find_provider
from dovetail.requesters.resolve import MAKERS
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


ANSWERS: Mapping[str, Answer] = {
    "chat": send_events({"choices": [{"index": 0, "delta": {"content": "Hello"}}]}, "[DONE]"),
    "responses": send_events(
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hello"},
        {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}},
    ),
    "anthropic": send_events(
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ),
    "google": send_events(
        {"candidates": [{"content": {"parts": [{"text": "Hello"}], "role": "model"}, "finishReason": "STOP"}]}
    ),
    "bedrock": (200, "application/vnd.amazon.eventstream", write_answer({"text": "Hello"})),
}


@dataclass(frozen=True)
class Wanted:
    """What a provider wants: the path of a request under its address, and the header of the key."""

    path: str = "/chat/completions"
    header: str = "authorization"
    key: str = "Bearer sk-right"


STREAM = "streamGenerateContent?alt=sse"
WANTED: Mapping[str, Wanted] = {
    "anthropic": Wanted(path="/messages", header="x-api-key", key="sk-right"),
    "google": Wanted(path=f"/models/some-model:{STREAM}", header="x-goog-api-key", key="sk-right"),
    "bedrock": Wanted(path="/model/some-model/converse-stream"),
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


def test_every_provider_is_asked_below() -> None:
    assert set(WANTED) == set(PROVIDERS)


PAGE = Path(__file__).parents[2] / "docs" / "models.md"


def test_table_of_the_page_has_every_provider_with_its_keys_and_tests_that_exist() -> None:
    text = PAGE.read_text(encoding="utf-8")
    lines = text[text.index("| Name | Provider |") :].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    names = [re.match(r"`([\w-]+):", row[0]) for row in rows]
    assert [name[1] for name in names if name] == [*PROVIDERS, *MAKERS]
    for row, (_, _, key, _, tested) in zip(PROVIDERS.values(), rows, strict=False):
        assert re.findall(r"`(\w+)`", key) == list(row.keys), row.name
        assert tested, row.name
    for link in re.findall(r"\]\(\.\./(tests/[^)]+)\)", "".join(lines)):
        assert (PAGE.parents[1] / link).exists(), link


@pytest.mark.parametrize("name", WANTED)
def test_request_through_a_name_arrives_as_its_provider_wants_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear_variables(monkeypatch)
    row, wanted = PROVIDERS[name], WANTED[name]
    path = urlsplit(row.base_url).path
    with run_server(lambda _: ANSWERS[row.api]) as server:
        options = {"base_url": f"{server.url}{path}", "api_key": "sk-right"}
        agent = Agent(model=f"{name}:some-model", settings={"model": {"providers": {name: options}}})
        assert agent.input("Good day").start() == "Hello"
        [received] = server.requests
    assert (received.method, received.path) == ("POST", f"{path}{wanted.path}")
    assert received.headers[wanted.header] == wanted.key
    assert [header for header, value in received.headers.items() if "sk-right" in value] == [wanted.header]
    assert received.body.get("model") == "some-model" or "some-model" in received.path
    assert "Good day" in str(received.body)


@pytest.mark.parametrize("name", WANTED)
def test_key_of_the_environment_reaches_its_provider(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clear_variables(monkeypatch)
    row = PROVIDERS[name]
    for variable in row.keys[:1]:
        monkeypatch.setenv(variable, "sk-environment")
    with run_server(lambda _: ANSWERS[row.api]) as server:
        options = {"base_url": f"{server.url}{urlsplit(row.base_url).path}"}
        agent = Agent(model=f"{name}:m", settings={"model": {"providers": {name: options}}})
        assert agent.input("Good day").start() == "Hello"
        [received] = server.requests
    assert bool(row.keys) == any("sk-environment" in value for value in received.headers.values())


@pytest.mark.parametrize("api", ANSWERS)
def test_provider_of_your_own_speaks_the_chosen_api(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clear_variables(monkeypatch)
    with run_server(lambda _: ANSWERS[api]) as server:
        mine = {"base_url": f"{server.url}/any", "api_key": "sk-right", "api": api}
        agent = Agent(model="mine:some-model", settings={"model": {"providers": {"mine": mine}}})
        assert agent.input("Good day").start() == "Hello"
        [received] = server.requests
    assert received.path.startswith("/any/")
    assert any("sk-right" in value for value in received.headers.values())


def test_azure_deployment_of_a_dated_version_is_part_of_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    clear_variables(monkeypatch)
    with run_server(lambda _: ANSWERS["chat"]) as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url)
        monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
        headers = {"headers": {"Authorization": "Bearer entra-token"}}
        agent = Agent(model="azure:chat-prod", settings={"model": {"providers": {"azure": headers}}})
        assert agent.input("Good day").start() == "Hello"
        [received] = server.requests
    assert received.path == "/openai/deployments/chat-prod/chat/completions?api-version=2024-10-21"
    assert received.headers["authorization"] == "Bearer entra-token"
    assert "api-key" not in received.headers


@pytest.mark.parametrize(
    ("model", "api", "variables", "path"),
    [
        ("openai:gpt-4.1", "chat", ("OPENAI_BASE_URL", "OPENAI_API_KEY"), "/chat/completions"),
        ("anthropic:claude-x", "anthropic", ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"), "/v1/messages"),
        (
            "google:gemini-x",
            "google",
            ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"),
            "/v1beta/models/gemini-x",
        ),
        ("ollama:qwen3", "chat", ("OLLAMA_HOST", ""), "/v1/chat/completions"),
        ("azure:prod", "chat", ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_AD_TOKEN"), "/openai/v1/chat"),
    ],
)
def test_address_and_key_of_the_environment_are_all_that_a_program_needs(
    model: str, api: str, variables: tuple[str, str], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear_variables(monkeypatch)
    with run_server(lambda _: ANSWERS[api]) as server:
        for variable, value in zip(variables, (server.url, "sk-environment"), strict=True):
            if variable:
                monkeypatch.setenv(variable, value)
        assert Agent(model=model).input("Good day").start() == "Hello"
        [received] = server.requests
    assert received.path.startswith(path)
    assert any("sk-environment" in value for value in received.headers.values()) == bool(variables[1])
    if model == "azure:prod":
        assert received.headers["authorization"] == "Bearer sk-environment"
        assert "api-key" not in received.headers


def test_one_program_asks_three_providers_and_no_key_reaches_another(monkeypatch: pytest.MonkeyPatch) -> None:
    clear_variables(monkeypatch)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-anthropic")
    monkeypatch.setenv("GEMINI_API_KEY", "key-of-google")

    def answer(received: Received) -> Answer:
        apis = {"/a/messages": "anthropic", "/o/chat/completions": "chat"}
        return ANSWERS[apis.get(received.path, "google")]

    with run_server(answer) as server:
        providers = {"anthropic": {"base_url": f"{server.url}/a"}, "google": {"base_url": f"{server.url}/g"}}
        model = {"name": "openai:x", "base_url": f"{server.url}/o", "api_key": "key-of-openai"}
        settings = {"model": {**model, "providers": providers}}
        for name in ("openai:x", "anthropic:x", "google:x"):
            assert Agent(model=name, settings=settings).input("Good day").start() == "Hello"
        seen = [str(dict(received.headers)) for received in server.requests]
    keys = ["key-of-openai", "key-of-anthropic", "key-of-google"]
    assert [[key for key in keys if key in headers] for headers in seen] == [[key] for key in keys]
