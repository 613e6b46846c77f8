"""A provider's address and key, from the table, the settings and the environment."""

from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.requesters.configured import ConfiguredProvider, configure, list_configured
from dovetail.requesters.providers import PROVIDERS
from dovetail.settings import DEFAULTS, Settings
from dovetail.settings.model import ModelSettings
from model_servers import clear_variables


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    clear_variables(monkeypatch)


def read(**model: Any) -> ModelSettings:
    return Settings({"model": model}, parent=Settings(DEFAULTS)).section(ModelSettings)


def find(name: str, owner: str = "", **model: Any) -> ConfiguredProvider:
    return configure(name, read(**model), owner)


KEYED = [(row.name, key) for row in PROVIDERS.values() for key in row.keys]


@pytest.mark.parametrize(("name", "variable"), KEYED)
def test_provider_reads_its_own_variable_and_no_other_does(
    name: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "sk-from-environment")
    keys = {each.name: each.api_key for each in list_configured(read()) if each.api_key}
    assert keys == {name: "sk-from-environment"}
    assert "sk-from-environment" not in repr(find(name))


@pytest.mark.parametrize(
    "name", [row.name for row in PROVIDERS.values() if row.keys and not row.is_local and not row.signs]
)
def test_missing_key_is_an_error_that_names_the_variable(name: str) -> None:
    row = PROVIDERS[name]
    given = {} if row.base_url else {"providers": {name: {"base_url": "https://mine.test"}}}
    with pytest.raises(ConfigError) as caught:
        find(name, **given).require()
    assert caught.value.message == f"Missing API key for {row.title}."
    assert all(variable in str(caught.value.hint) for variable in row.keys)
    assert f"model.providers.{name}.api_key" in str(caught.value.hint)


def test_key_of_the_environment_follows_an_address_set_for_its_provider(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    gateway = {"anthropic": {"base_url": "https://gateway.test/v1"}}
    assert find("anthropic", providers=gateway).api_key == "sk-ant"


def test_key_of_the_environment_is_not_sent_to_the_general_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    assert find("anthropic", owner="anthropic", base_url="https://any.test").api_key is None


def test_address_key_and_api_of_the_model_s_name_stay_with_its_provider() -> None:
    given = {"base_url": "https://mine.test", "api_key": "mine", "api": "anthropic", "api_version": "v9"}
    owner = find("openai", owner="openai", **given)
    assert (owner.base_url, owner.api_key, owner.api) == ("https://mine.test", "mine", "anthropic")
    other = find("groq", owner="openai", **given)
    assert (other.base_url, other.api_key, other.api, other.options.api_version) == (
        "https://api.groq.com/openai/v1",
        None,
        "chat",
        None,
    )


def test_header_that_carries_a_key_stays_with_the_provider_of_the_model_s_name() -> None:
    headers = {"Authorization": "Bearer secret", "x-api-key": "secret", "x-team": "blue"}
    assert find("openai", owner="openai", headers=headers).options.headers == headers
    assert find("groq", owner="openai", headers=headers).options.headers == {"x-team": "blue"}


def test_provider_s_own_key_wins_over_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "environment")
    assert find("groq", providers={"groq": {"api_key": "settings"}}).api_key == "settings"


def test_own_provider_may_speak_any_api() -> None:
    mine = {"mine": {"base_url": "http://127.0.0.1:1", "api": "anthropic"}}
    found = find("mine", providers=mine)
    assert (found.api, found.missing, found.is_set_up) == ("anthropic", "", True)


def test_local_server_is_set_up_by_its_address_and_usable_without() -> None:
    assert not find("ollama").is_set_up
    assert find("ollama").missing == ""
    assert find("ollama", providers={"ollama": {"base_url": "http://box.test/v1"}}).is_set_up


@pytest.mark.parametrize(
    ("name", "variable", "given", "address"),
    [
        ("openai", "OPENAI_BASE_URL", "https://gate.test/v1", "https://gate.test/v1"),
        ("openai", "OPENAI_BASE_URL", "https://gate.test/openai", "https://gate.test/openai"),
        ("anthropic", "ANTHROPIC_BASE_URL", "https://gate.test", "https://gate.test/v1"),
        ("anthropic", "ANTHROPIC_BASE_URL", " https://gate.test/v1/ ", "https://gate.test/v1/"),
        ("anthropic", "ANTHROPIC_BASE_URL", "https://gate.test/v1/a/?k=1", "https://gate.test/v1/a/v1?k=1"),
        ("google", "GOOGLE_GEMINI_BASE_URL", "https://gate.test/", "https://gate.test/v1beta"),
        ("google", "GOOGLE_GEMINI_BASE_URL", "https://gate.test/v1", "https://gate.test/v1"),
        ("ollama", "OLLAMA_HOST", "box", "http://box:11434/v1"),
        ("ollama", "OLLAMA_HOST", "box:1", "http://box:1/v1"),
        ("ollama", "OLLAMA_HOST", "0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("ollama", "OLLAMA_HOST", "http://0.0.0.0:1", "http://127.0.0.1:1/v1"),
        ("ollama", "OLLAMA_HOST", ":1", "http://127.0.0.1:1/v1"),
        ("ollama", "OLLAMA_HOST", "[::]:1", "http://[::1]:1/v1"),
        ("ollama", "OLLAMA_HOST", "fe80::1", "http://[fe80::1]:11434/v1"),
        ("ollama", "OLLAMA_HOST", "https://box.test/ollama/", "https://box.test/ollama/v1"),
        ("ollama", "OLLAMA_HOST", "https://me:pass@box.test/v1", "https://me:pass@box.test/v1"),
    ],
)
def test_address_is_read_from_the_variable_that_the_provider_s_package_reads(
    name: str, variable: str, given: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, given)
    assert find(name).base_url == address
    assert find(name).is_set_up
    assert find(name, owner=name, base_url="http://general.test/a").base_url == "http://general.test/a"
    assert find(name, providers={name: {"base_url": "http://own.test/a"}}).base_url == "http://own.test/a"
    others = [each for each in list_configured(read()) if each.name != name]
    assert [each.base_url for each in others] == [PROVIDERS[each.name].base_url for each in others]


def test_host_alone_gets_the_version_of_the_provider_s_api() -> None:
    for name, address in (
        ("anthropic", "http://gate.test/v1"),
        ("google", "http://gate.test/v1beta"),
        ("openai", "http://gate.test"),
    ):
        assert find(name, owner=name, base_url="http://gate.test").base_url == address
    assert find("anthropic", providers={"anthropic": {"base_url": "http://gate.test/"}}).base_url == (
        "http://gate.test/v1"
    )


def test_empty_variable_is_ignored_and_a_broken_one_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    assert find("openai").base_url == "https://api.openai.com/v1"
    monkeypatch.setenv("OLLAMA_HOST", "http://[box")
    with pytest.raises(ConfigError, match="Invalid address in OLLAMA_HOST"):
        find("ollama")


def test_key_of_the_environment_follows_the_address_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gate.test/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    found = {each.name: (each.base_url, each.api_key) for each in list_configured(read()) if each.api_key}
    assert found == {
        "openai": ("https://gate.test/v1", "sk-openai"),
        "anthropic": ("https://api.anthropic.com/v1", "sk-ant"),
    }


AZURE = "https://res.openai.azure.com"


@pytest.mark.parametrize(
    ("base_url", "options", "address"),
    [
        (AZURE, {}, f"{AZURE}/openai/v1"),
        (f"{AZURE}/", {"api_version": "preview"}, f"{AZURE}/openai/v1"),
        (f"{AZURE}/openai", {}, f"{AZURE}/openai/v1"),
        (f"{AZURE}/openai/v1", {"api_version": "2024-10-21"}, f"{AZURE}/openai/v1"),
        (
            AZURE,
            {"api_version": "2024-10-21"},
            f"{AZURE}/openai/deployments/my%20gpt?api-version=2024-10-21",
        ),
        (
            AZURE,
            {"api_version": "2025-04-01", "api": "responses"},
            f"{AZURE}/openai?api-version=2025-04-01",
        ),
        (f"{AZURE}/openai/", {}, f"{AZURE}/openai/v1"),
        (f"{AZURE}/openai/v1/chat/completions", {}, f"{AZURE}/openai/v1"),
        (
            f"{AZURE}/openai/deployments/dep/chat/completions?api-version=2024-10-21",
            {},
            f"{AZURE}/openai/deployments/dep?api-version=2024-10-21",
        ),
        (
            f"{AZURE}/openai/deployments/dep",
            {"api_version": "2024-10-21"},
            f"{AZURE}/openai/deployments/dep?api-version=2024-10-21",
        ),
        (
            f"{AZURE}/?api-version=2024-10-21",
            {},
            f"{AZURE}/openai/deployments/my%20gpt?api-version=2024-10-21",
        ),
    ],
)
def test_azure_address_has_the_deployment_or_the_new_api(
    base_url: str, options: dict[str, Any], address: str
) -> None:
    azure = {"azure": {"base_url": base_url, "api_key": "k", **options}}
    assert find("azure", providers=azure).find_address("my gpt") == address


@pytest.mark.parametrize("route", ["/chat/completions", "/responses", "/messages/", "/chat/completions?a=b"])
def test_route_at_the_end_of_an_address_is_left_out(route: str) -> None:
    found = find("house", providers={"house": {"base_url": f"http://h/v1{route}"}})
    assert found.find_address("m") == ("http://h/v1?a=b" if "?" in route else "http://h/v1")


def test_key_that_is_not_sent_to_the_general_address_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "k")
    assert find("azure", owner="azure", base_url=AZURE).missing == (
        "Set model.providers.azure.base_url instead of model.base_url: AZURE_OPENAI_API_KEY is not sent to "
        "model.base_url, which may be any server. Or set model.providers.azure.api_key."
    )


def test_azure_is_configured_by_its_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find("azure").missing.startswith("Set AZURE_OPENAI_ENDPOINT or model.providers.azure.base_url")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", AZURE)
    assert "AZURE_OPENAI_API_KEY" in find("azure").missing
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    found = find("azure")
    assert (found.missing, found.is_set_up) == ("", True)
    assert found.find_address("d").endswith("/openai/deployments/d?api-version=2024-10-21")


def test_missing_address_and_key_are_reported_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        find("azure", owner="azure").require()
    assert str(caught.value) == (
        "Missing address and API key of Azure OpenAI.\n"
        "Set AZURE_OPENAI_ENDPOINT or model.providers.azure.base_url, and AZURE_OPENAI_API_KEY, "
        "AZURE_OPENAI_AD_TOKEN, DOVETAIL_API_KEY or model.providers.azure.api_key."
    )


def test_missing_key_of_the_chosen_model_is_named_by_the_setting_that_always_works() -> None:
    assert find("groq", owner="groq").missing == (
        "Set GROQ_API_KEY, DOVETAIL_API_KEY or model.providers.groq.api_key."
    )


def test_azure_takes_a_token_in_a_header_instead_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", AZURE)
    headers = {"azure": {"headers": {"Authorization": "Bearer token"}}}
    assert find("azure", providers=headers).missing == ""


def test_azure_sends_the_token_of_the_environment_unless_there_is_a_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", AZURE)
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "entra")
    assert (find("azure").api_key, find("azure").key_header) == ("entra", "authorization")
    own = find("azure", providers={"azure": {"api_key": "own"}})
    assert (own.api_key, own.key_header) == ("own", "api-key")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "k")
    assert (find("azure").api_key, find("azure").key_header) == ("k", "api-key")
