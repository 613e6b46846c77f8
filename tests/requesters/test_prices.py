"""Tokens cost what the price table in the settings says, otherwise what is published."""

import pytest

from dovetail.errors import ConfigError
from dovetail.events.delta import Usage
from dovetail.requesters.prices import Price, PublicPrice, find_price
from dovetail.settings.model import ModelSettings

OPTIONS = ModelSettings.read(
    {
        "prices": {
            "gpt-4.1": {"input": 2.0, "output": 8.0, "cached": 0.5},
            "openai:gpt-4.1*": {"input": 9.0, "output": 9.0},
            "openai:o*": {"input": 5.0, "output": 5.0},
        },
        "known_as": {"azure:prod": "gpt-4.1", "gateway:fast": "anthropic:claude-haiku-4-5"},
    }
)


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("openai:gpt-4.1", 2.0),  # its own name goes before any pattern
        ("openai:gpt-4.1-mini", 9.0),  # the longest pattern that fits
        ("openai:o3", 5.0),
        ("openai:gpt-5-mini", 0.25),  # as published
        ("azure:prod", 2.0),
        ("gateway:fast", 1.0),
        ("gateway:slow", None),
        ("openrouter:meta-llama/llama-3.3-70b-instruct:free", 0.0),
        *((f"{provider}:qwen3", 0.0) for provider in ("ollama", "vllm", "lmstudio", "llamacpp", "local")),
    ],
)
def test_price_is_found_in_the_settings_then_in_the_published_data(model: str, price: float | None) -> None:
    found = find_price(OPTIONS, model).find_price_for(1000)
    assert (found.input if found else None) == price


def test_cached_written_and_reasoning_tokens_have_prices_of_their_own() -> None:
    usage = Usage(1000, 100, 400, 50, cache_write_tokens=100)
    full = Price(input=2, output=10, cached=1, cache_write=4, reasoning=20)
    assert full.apply(usage).cost == pytest.approx((500 * 2 + 400 * 1 + 100 * 4 + 50 * 10 + 50 * 20) / 1e6)
    assert Price(input=2, output=10).apply(usage).cost == pytest.approx(0.003)


def test_usage_that_was_not_reported_has_no_cost_unless_the_model_is_free() -> None:
    assert Price(input=2, output=10).apply(Usage()).cost is None
    assert PublicPrice("openai:gpt-4.1").apply(Usage()).cost is None
    assert find_price(OPTIONS, "ollama:qwen3").apply(Usage()).cost == 0.0


def test_long_input_has_the_price_of_its_tier() -> None:
    price = PublicPrice("anthropic:claude-sonnet-4-5")
    assert price.apply(Usage(200_000, 0)).cost == pytest.approx(0.6)
    assert price.apply(Usage(200_001, 0)).cost == pytest.approx(200_001 * 6 / 1e6)


def test_what_stays_longer_in_the_cache_costs_more() -> None:
    written = Usage(1_000_000, 0, cache_write_tokens=1_000_000)
    model = "anthropic:claude-haiku-4-5"
    assert find_price(OPTIONS, model).apply(written).cost == pytest.approx(1.25)
    assert find_price(OPTIONS, model, cache="1h").apply(written).cost == pytest.approx(2.0)


def test_cost_that_the_provider_reports_goes_before_the_published_price() -> None:
    said = Usage(1000, 100, cost=0.5)
    assert PublicPrice("openrouter:openai/gpt-5-mini").apply(said).cost == 0.5
    assert Price(input=1, output=0).apply(said).cost == pytest.approx(0.001)


def test_deployment_is_priced_by_the_model_that_its_answer_names() -> None:
    price = PublicPrice("azure:my-deployment")
    assert price.apply(Usage(1000, 0)).cost is None
    assert price.apply(Usage(1000, 0), "gpt-4.1-2025-04-14").cost == pytest.approx(0.002)


@pytest.mark.parametrize(
    "wrong", [{"input": 2.5}, {"input": "2.5", "output": 1}, {"input": True, "output": 1}, 3]
)
def test_wrong_price_is_reported_before_any_request(wrong: object) -> None:
    with pytest.raises(ConfigError, match=r"model\.prices\.gpt\b.*(a price per million tokens|a table)"):
        ModelSettings.read({"prices": {"gpt": wrong}})
