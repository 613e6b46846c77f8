"""Public models with their context windows and prices, from the data of the package `genai-prices`.

Only the package's table is read, with the few classes below in place of its own: importing the package would
import an HTTP client and pydantic as well, and take many times as long. It is read once, when a window or a
price is first needed.
"""

import builtins
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any, TypeAlias

from dovetail.requesters.providers import find_provider

logger = logging.getLogger(__name__)

PACKAGE = "genai_prices"

Match: TypeAlias = Callable[[str], bool]
Constraint: TypeAlias = Callable[[datetime], bool]
_DATE = re.compile(r"[-@](20\d\d)-?(\d\d)-?(\d\d)(?=$|:)")
_VARIANT = re.compile(r":(free|nitro|floor|exacto|online|thinking|extended)$")


@dataclass(frozen=True, slots=True)
class Tiered:
    """A price that depends on the size of the input: from `tiers` the last one whose start is exceeded."""

    base: Any
    tiers: Sequence[tuple[int, Any]]

    def choose(self, tokens: int) -> float:
        """Return the price for an input of this many tokens."""
        reached = [price for start, price in sorted(self.tiers) if tokens > start]
        return float(reached[-1] if reached else self.base)


@dataclass(frozen=True, slots=True)
class Dated:
    """Prices that apply under a constraint of date or time, if any."""

    constraint: Constraint | None = None
    prices: Mapping[str, Any] = field(default_factory=dict[str, Any])


class KnownModel:
    """A public model: its id, its context window if the data has it, and its prices by kind of token."""

    __slots__ = ("context_window", "id", "match", "prices")

    def __init__(
        self, *, id: str, match: Match, context_window: int | None = None, prices: Any = (), **_: Any
    ) -> None:
        self.id = id
        self.match = match
        self.context_window = context_window
        self.prices: Mapping[str, Any] | Sequence[Dated] = prices

    def find_prices(self, tokens: int, moment: datetime | None = None) -> Mapping[str, float]:
        """Return the prices per million by kind of token, for an input of this size; by default now."""
        prices = self.prices
        if not isinstance(prices, Mapping):
            now = moment or datetime.now(UTC)
            active = [one for one in prices if one.constraint is None or one.constraint(now)]
            prices = (active or list(prices[:1]) or [Dated()])[-1].prices
        return {
            kind: price.choose(tokens) if isinstance(price, Tiered) else float(price)
            for kind, price in prices.items()
            if price is not None
        }


@dataclass(frozen=True, slots=True)
class _Provider:
    models: Sequence[KnownModel]
    others: Sequence[str]

    @classmethod
    def make(
        cls,
        *,
        id: str,
        models: Sequence[KnownModel] = (),
        fallback_model_providers: Sequence[str] | None = None,
        **_: Any,
    ) -> tuple[str, "_Provider"]:
        return id, cls(models, fallback_model_providers or ())


@lru_cache(maxsize=512)
def find_known(model: str) -> KnownModel | None:
    """Return the public model `provider:name`; a name with a date or a variant finds its model, too."""
    provider, _, name = model.lower().partition(":")
    row = find_provider(provider)
    table = _read_table()
    own = table.get(provider if row is None else row.prices)
    if own is None:
        return None
    places = [own, *(table[other] for other in own.others if other in table)]
    for written in _spell(name):
        for place in places:
            for known in place.models:
                if known.match(written):
                    return known
    return None


def list_known(provider: str) -> Sequence[KnownModel]:
    """Return the public models of a provider; none if the data does not have it."""
    row = find_provider(provider)
    found = _read_table().get(provider if row is None else row.prices)
    return () if found is None else found.models


def _spell(name: str) -> Iterator[str]:
    """Yield the ways to write a name: as it is, with its date dashed, without date, without variant."""
    yield name
    yield _DATE.sub(r"-\1-\2-\3", name)
    yield _DATE.sub("", name)
    plain = _VARIANT.sub("", name)
    if plain != name:
        yield from _spell(plain)


@cache
def _read_table() -> Mapping[str, _Provider]:
    """Return the providers of the data by name; empty if the package has another layout."""
    package = find_spec(PACKAGE)
    data = PathFinder.find_spec(f"{PACKAGE}.data", package.submodule_search_locations) if package else None
    loader: Any = data.loader if data else None
    scope: dict[str, Any] = {"__builtins__": {**vars(builtins), "__import__": _import}}
    try:
        exec(loader.get_code(f"{PACKAGE}.data"), scope)
        return dict(scope["providers"])
    except (AttributeError, ImportError, LookupError, NameError, TypeError, ValueError) as error:
        logger.warning("Cannot read the windows and prices of %s: %r", PACKAGE, error)
        return {}


def _import(name: str, *where: Any) -> Any:
    """Import a module for the data; in place of the package's own classes it gets ours."""
    is_relative = where[3:] == (1,)
    return _CLASSES if is_relative else __import__(name, *where)


def _to_utc(clock: time) -> time:
    if clock.tzinfo is None:
        return clock
    return datetime.combine(date(2000, 1, 1), clock).astimezone(UTC).time()


def _make_tier(*, start: int, price: Any) -> tuple[int, Any]:
    return start, price


def _match_start(*, starts_with: str) -> Match:
    return lambda text: text.startswith(starts_with.lower())


def _match_end(*, ends_with: str) -> Match:
    return lambda text: text.endswith(ends_with.lower())


def _match_part(*, contains: str) -> Match:
    return lambda text: contains.lower() in text


def _match_whole(*, equals: str) -> Match:
    return lambda text: text == equals.lower()


def _match_pattern(*, regex: str) -> Match:
    return lambda text: bool(re.search(regex, text))


def _match_any(*, or_: Sequence[Match]) -> Match:
    return lambda text: any(match(text) for match in or_)


def _match_all(*, and_: Sequence[Match]) -> Match:
    return lambda text: all(match(text) for match in and_)


def _start_on(*, start_date: date) -> Constraint:
    return lambda moment: moment.astimezone(UTC).date() >= start_date


def _stay_within(*, start_time: time, end_time: time) -> Constraint:
    start, end = _to_utc(start_time), _to_utc(end_time)

    def is_within(moment: datetime) -> bool:
        now = moment.astimezone(UTC).time()
        return start <= now < end if start <= end else now >= start or now < end

    return is_within


def _ignore(**_: Any) -> None:
    """Stand for a record that is not needed."""


_CLASSES = SimpleNamespace(
    Provider=_Provider.make,
    ModelInfo=KnownModel,
    ModelPrice=dict,
    TieredPrices=Tiered,
    Tier=_make_tier,
    ConditionalPrice=Dated,
    StartDateConstraint=_start_on,
    TimeOfDateConstraint=_stay_within,
    ClauseStartsWith=_match_start,
    ClauseEndsWith=_match_end,
    ClauseContains=_match_part,
    ClauseEquals=_match_whole,
    ClauseRegex=_match_pattern,
    ClauseOr=_match_any,
    ClauseAnd=_match_all,
    PriceVariant=_ignore,
    UsageExtractor=_ignore,
    UsageExtractorMapping=_ignore,
    ArrayMatch=_ignore,
)
"""What the data calls, by the name it uses; a match gets its text in lower case."""
