"""The cost of tokens, by the price table in the settings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from dovetail.events.delta import Usage
from dovetail.settings.model import PriceSettings

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Prices per million tokens; cached input costs as much as input unless it has its own price."""

    input: float
    output: float
    cached: float | None = None

    def apply(self, usage: Usage) -> Usage:
        """Return the usage with its cost."""
        cached_price = self.input if self.cached is None else self.cached
        fresh = max(usage.input_tokens - usage.cached_tokens, 0)
        cost = fresh * self.input + usage.cached_tokens * cached_price + usage.output_tokens * self.output
        return replace(usage, cost=cost / MILLION)


def find_price(table: Mapping[str, PriceSettings], model: str) -> Price | None:
    """Return the price of `provider:name` in the setting `model.prices`: exact name, or best pattern."""
    names = [
        pattern for pattern in table if fnmatchcase(model, pattern) or fnmatchcase(model, f"*:{pattern}")
    ]
    if not names:
        return None
    name = max(names, key=lambda pattern: (pattern in (model, model.partition(":")[2]), len(pattern)))
    price = table[name]
    return Price(input=price.input, output=price.output, cached=price.cached)
