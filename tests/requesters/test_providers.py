"""The table of providers: unique, complete rows."""

from urllib.parse import urlsplit

from dovetail.requesters.providers import ALIASES, PROVIDERS, find_provider

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
