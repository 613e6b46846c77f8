"""Tokens cost what the user's price table says."""

import pytest

from dovetail.errors import ConfigError
from dovetail.events.delta import Usage
from dovetail.requesters.prices import Price, find_price
from dovetail.settings.model import ModelSettings, PriceSettings

TABLE = {
    "gpt-4.1": PriceSettings(input=2.0, output=8.0, cached=0.5),
    "openai:gpt-4.1*": PriceSettings(input=9.0, output=9.0),
    "openai:*": PriceSettings(input=5.0, output=5.0),
}


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("openai:gpt-4.1", 2.0),  # its own name goes before any pattern
        ("openai:gpt-4.1-mini", 9.0),  # the longest pattern that fits
        ("openai:o3", 5.0),
        ("ollama:qwen3", None),
    ],
)
def test_price_is_found_by_name_then_by_the_longest_pattern(model: str, price: float | None) -> None:
    found = find_price(TABLE, model)
    assert (found.input if found else None) == price


def test_cached_input_has_its_own_price() -> None:
    usage = Usage(input_tokens=1000, output_tokens=100, cached_tokens=400)
    assert Price(input=2, output=10, cached=1).apply(usage).cost == pytest.approx(0.0026)
    assert Price(input=2, output=10).apply(usage).cost == pytest.approx(0.003)


@pytest.mark.parametrize(
    "wrong", [{"input": 2.5}, {"input": "2.5", "output": 1}, {"input": True, "output": 1}, 3]
)
def test_wrong_price_is_reported_before_any_request(wrong: object) -> None:
    with pytest.raises(ConfigError, match=r"model\.prices\.gpt\b.*(a price per million tokens|a table)"):
        ModelSettings.read({"prices": {"gpt": wrong}})
