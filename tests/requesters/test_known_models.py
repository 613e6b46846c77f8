"""Windows and prices of public models, read from the data of genai-prices without importing it."""

import subprocess
import sys
from datetime import UTC, datetime

import genai_prices
import pytest
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import TieredPrices

from dovetail.events.delta import Usage
from dovetail.requesters.known_models import find_known
from dovetail.requesters.prices import PublicPrice


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("anthropic:claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("anthropic:claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude:claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("openai:gpt-4.1-2025-04-14", "gpt-4.1"),
        ("openai:gpt-5.2-20251211", "gpt-5.2"),
        ("openai:GPT-4.1", "gpt-4.1"),
        ("azure:gpt-4.1", "gpt-4.1"),
        ("openrouter:anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4.5"),
        ("openrouter:anthropic/claude-sonnet-4.5:nitro", "anthropic/claude-sonnet-4.5"),
        ("xai:grok-4", "grok-4-0709"),
        ("cerebras:gpt-oss-120b", "gpt-oss-120b"),
    ],
)
def test_model_is_found_under_the_names_that_people_write(model: str, found: str) -> None:
    known = find_known(model)
    assert known is not None
    assert known.id == found


@pytest.mark.parametrize("model", ["openai:unheard-of", "nowhere:gpt-4.1", "ollama:qwen3", "gpt-4.1", ""])
def test_unknown_names_have_no_entry(model: str) -> None:
    assert find_known(model) is None


def test_windows_are_those_of_the_data() -> None:
    known = find_known("anthropic:claude-haiku-4-5")
    assert known is not None
    assert known.context_window == 200_000


def test_every_price_equals_the_one_that_the_package_itself_computes() -> None:
    usage = genai_prices.Usage(
        input_tokens=300_000, output_tokens=2_000, cache_read_tokens=1_000, cache_write_tokens=500
    )
    ours = Usage(300_000, 2_000, 1_000, cache_write_tokens=500)
    compared = 0
    for provider in get_snapshot().providers:
        if provider.id not in ("anthropic", "openai", "google", "deepseek", "mistral", "groq"):
            continue
        for model in provider.models:
            known = find_known(f"{provider.id}:{model.id}")
            entry = provider.find_model(model.id)
            price = PublicPrice(f"{provider.id}:{model.id}").find_price_for(300_000)
            if known is None or entry is None or price is None:
                continue
            theirs = entry.calc_price(usage, provider, genai_request_timestamp=datetime.now(UTC))
            if "requests_kcount" not in vars(theirs.model_price):
                assert price.cost_of(ours) == pytest.approx(float(theirs.total_price)), model.id
                compared += 1
    assert compared > 200


@pytest.mark.parametrize("hour", [3, 12, 20])
@pytest.mark.parametrize("year", [2023, 2025, 2026])
def test_prices_that_change_with_date_and_time_are_those_of_the_moment(year: int, hour: int) -> None:
    moment = datetime(year, 11, 1, hour, tzinfo=UTC)
    compared = 0
    for provider in get_snapshot().providers:
        for model in provider.models:
            known = find_known(f"{provider.id}:{model.id}") if isinstance(model.prices, list) else None
            if known is not None and known.id == model.id:
                theirs = model.get_prices(moment).input_mtok
                expected = theirs.base if isinstance(theirs, TieredPrices) else theirs
                assert known.find_prices(0, moment).get("input_mtok") == (
                    None if expected is None else float(expected)
                )
                compared += 1
    assert compared > 50


def test_package_is_not_imported_for_its_data() -> None:
    code = (
        "import sys; from dovetail.requesters.known_models import find_known;"
        "assert 'anthropic' not in sys.modules;"
        "assert find_known('openai:gpt-4.1') is not None;"
        "print([name for name in ('genai_prices', 'httpx2', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
