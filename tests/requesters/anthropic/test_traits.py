"""Claude models differ by their names."""

import pytest

from dovetail.requesters.anthropic.traits import Traits, find_traits


@pytest.mark.parametrize(
    ("model", "traits"),
    [
        ("claude-3-5-haiku-20241022", Traits(budget=False, output=8192)),
        ("claude-3-7-sonnet-20250219", Traits(output=64_000)),
        ("claude-opus-4-1-20250805", Traits(interleaves=True, output=32_000)),
        ("claude-sonnet-4-20250514", Traits(interleaves=True, output=64_000)),
        ("claude-sonnet-4-5", Traits(interleaves=True, output=64_000)),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", Traits(interleaves=True, output=64_000)),
        ("claude-opus-4-6", Traits(effort=True, output=128_000)),
        ("anthropic/claude-opus-4.8", Traits(effort=True, budget=False, samples=False, output=128_000)),
        (
            "claude-sonnet-5",
            Traits(effort=True, budget=False, off="disabled", samples=False, output=128_000),
        ),
        (
            "claude-sonnet-5-5",
            Traits(effort=True, budget=False, off="between_tools", samples=False, output=128_000),
        ),
        (
            "claude-opus-5-5",
            Traits(
                effort=True,
                budget=False,
                off="never",
                samples=False,
                forces=False,
                output=128_000,
            ),
        ),
        ("MiniMax-M2", Traits()),
    ],
)
def test_a_name_says_what_the_model_accepts(model: str, traits: Traits) -> None:
    assert find_traits(model) == traits
