"""What tokens cost: by the price table in the settings, otherwise by the published prices.

A model that runs on your own machine costs nothing. Without a known price, usage has no cost.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from dovetail.events.delta import Usage
from dovetail.requesters.known_models import find_known
from dovetail.requesters.providers import find_provider
from dovetail.settings.model import Cache, ModelSettings, PriceSettings

MILLION = 1_000_000
_WRITES: dict[Cache, str] = {
    "off": "cache_write_mtok",
    "5m": "cache_write_mtok",
    "1h": "cache_write_1h_mtok",
}


class Pricing(ABC):
    """How a model's tokens are priced."""

    @abstractmethod
    def find_price_for(self, input_tokens: int, answered_by: str = "") -> "Price | None":
        """Return the price per million tokens for an input of this size; None if it is not known.

        `answered_by` is the name that the provider gave in its answer, if any.
        """

    def apply(self, usage: Usage, answered_by: str = "") -> Usage:
        """Return the usage with its cost, if a price is known.

        Without tokens the usage was not reported: only what is free has a cost then.
        """
        price = self.find_price_for(usage.input_tokens, answered_by)
        is_known = usage.input_tokens or usage.output_tokens or price == FREE
        return replace(usage, cost=price.cost_of(usage)) if price is not None and is_known else usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Price(Pricing):
    """Prices per million tokens.

    Tokens read from the provider's cache or written to it cost as much as other input, and reasoning as much
    as other output, unless they have a price of their own.
    """

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None
    reasoning: float | None = None

    def find_price_for(self, input_tokens: int, answered_by: str = "") -> "Price":
        """Return itself: the same price for inputs of any size."""
        return self

    @property
    def highest_input(self) -> float:
        """The most that an input token may cost."""
        return max(self.input, self.cached or 0.0, self.cache_write or 0.0)

    @property
    def highest_output(self) -> float:
        """The most that an output token may cost."""
        return max(self.output, self.reasoning or 0.0)

    def cost_of(self, usage: Usage) -> float:
        """Return what the tokens cost."""
        fresh = max(usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens, 0)
        reasoning = min(usage.reasoning_tokens, usage.output_tokens)
        cost = (
            fresh * self.input
            + usage.cached_tokens * (self.input if self.cached is None else self.cached)
            + usage.cache_write_tokens * (self.input if self.cache_write is None else self.cache_write)
            + (usage.output_tokens - reasoning) * self.output
            + reasoning * (self.output if self.reasoning is None else self.reasoning)
        )
        return cost / MILLION


FREE = Price(input=0.0, output=0.0)


@dataclass(frozen=True, slots=True)
class PublicPrice(Pricing):
    """The published price of `provider:name`, looked up when it is needed: it may change with date and time.

    A name that is not public (an Azure deployment) is looked up by the name that the answer has.
    """

    model: str
    cache: Cache = "5m"

    def apply(self, usage: Usage, answered_by: str = "") -> Usage:
        """Return the usage with its cost; a cost that the provider itself has reported stays."""
        return usage if usage.cost is not None else Pricing.apply(self, usage, answered_by)

    def find_price_for(self, input_tokens: int, answered_by: str = "") -> Price | None:
        """Return the published price for an input of this size."""
        if self.model.endswith(":free"):
            return FREE
        known = find_known(self.model)
        if known is None and answered_by:
            known = find_known(f"{self.model.partition(':')[0]}:{answered_by}")
        if known is None:
            return None
        prices = known.find_prices(input_tokens)
        if "input_mtok" not in prices and "output_mtok" not in prices:
            return None
        return Price(
            input=prices.get("input_mtok", 0.0),
            output=prices.get("output_mtok", 0.0),
            cached=prices.get("cache_read_mtok"),
            cache_write=prices.get(_WRITES[self.cache], prices.get("cache_write_mtok")),
            reasoning=prices.get("output_reasoning_mtok"),
        )


@dataclass(frozen=True, slots=True)
class HighestPrice(Pricing):
    """The highest of several prices for each kind of token; not known if one of them is not."""

    prices: tuple[Pricing, ...]

    def find_price_for(self, input_tokens: int, answered_by: str = "") -> Price | None:
        """Return the highest price for an input of this size."""
        found = [price.find_price_for(input_tokens, answered_by) for price in self.prices]
        known = [price for price in found if price is not None]
        if len(known) < len(found):
            return None
        return Price(
            input=max(price.highest_input for price in known),
            output=max(price.highest_output for price in known),
        )


def find_price(options: ModelSettings, model: str, public_name: str = "", cache: Cache = "5m") -> Pricing:
    """Return the price of `provider:name`: as in the settings, none on your own machines, or as published.

    `public_name` is the name under which it is published, if that is another one. What is written to the
    provider's cache may cost more if it stays there longer.
    """
    table = options.prices
    names = [
        pattern for pattern in table if fnmatchcase(model, pattern) or fnmatchcase(model, f"*:{pattern}")
    ]
    if names:
        name = max(names, key=lambda pattern: (pattern in (model, model.partition(":")[2]), len(pattern)))
        return _read(table[name])
    public_name = public_name or name_publicly(options.known_as, model)
    return FREE if is_free(public_name) else PublicPrice(public_name, cache)


def is_free(model: str) -> bool:
    """Whether a model costs nothing: it is embedded, or its server runs on a machine of your own."""
    provider = model.partition(":")[0]
    row = find_provider(provider)
    return provider == "local" or (row is not None and row.is_local)


def name_publicly(known_as: Mapping[str, str], model: str) -> str:
    """Return the public name of a model with a name of your own, by the setting `model.known_as`."""
    public = known_as.get(model) or known_as.get(model.partition(":")[2]) or model
    return public if ":" in public else f"{model.partition(':')[0]}:{public}"


def _read(price: PriceSettings) -> Price:
    return Price(input=price.input, output=price.output, cached=price.cached, cache_write=price.cache_write)
