"""The models that can be used here: embedded ones, files, servers and services, with price and window."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dovetail.data.secrets import show_address
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError, DovetailError
from dovetail.requesters.configured import ConfiguredProvider, configure, expand_alias, list_configured
from dovetail.requesters.known_models import find_known
from dovetail.requesters.local.files import list_models
from dovetail.requesters.local.weights import CATALOGUE, find
from dovetail.requesters.prices import Price, find_price, name_publicly
from dovetail.requesters.probe import ServerReport, probe
from dovetail.requesters.providers import PROVIDERS
from dovetail.requesters.resolve import connect, find_active
from dovetail.settings import Settings
from dovetail.settings.model import ModelSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """One model: its state, its price per million tokens and its context window, as far as known.

    `size` is that of its files in bytes, if it runs in this process.
    """

    name: str
    state: str
    is_ready: bool
    is_active: bool = False
    price: Price | None = None
    window: int | None = None
    size: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        price = self.price
        return {
            "name": self.name,
            "state": self.state,
            "ready": self.is_ready,
            "active": self.is_active,
            "free": None if price is None else not (price.input or price.output),
            "price": None if price is None else {"input": price.input, "output": price.output},
            "context_tokens": self.window,
            "size": self.size,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEntry:
    """One provider: whether it is set up, and what its server said; without a report it was not asked."""

    configured: ConfiguredProvider
    report: ServerReport | None = None
    models: Sequence[ModelEntry] = field(default=())

    @property
    def state(self) -> str:
        """The state in a few words."""
        if self.report is not None:
            return self.report.text
        return self.configured.missing.rstrip(".") or "not asked"

    @property
    def address(self) -> str:
        """The address in use, without a user and password."""
        return show_address(self.configured.base_url)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data; keys are left out."""
        row, report = self.configured.provider, self.report
        return {
            "name": row.name,
            "title": row.title,
            "address": self.address,
            "set_up": self.configured.is_set_up,
            "reachable": None if report is None else report.is_reachable,
            "state": self.state,
            "local": row.is_local,
            "models": [model.to_dict() for model in self.models],
        }


class Survey:
    """Looks for the models that some settings make available; `active` is the one in use, if any.

    `problem` is the reason why the configured model cannot be used; empty if its name is right.
    """

    def __init__(self, settings: Settings) -> None:
        self._options = settings.section(ModelSettings)
        self.problem = ""
        try:
            self.active: str | None = find_active(settings)
        except DovetailError as error:
            self.active = None
            self.problem = str(error) if self._options.name else ""
        self._owner = (self.active or "").partition(":")[0]

    def list_embedded(self) -> Iterator[ModelEntry]:
        """Yield the embedded models and the model files on this machine."""
        for name, weights in CATALOGUE.items():
            is_there = find(name) is not None
            state = "downloaded" if is_there else f"not downloaded: dovetail models pull {name}"
            entry = self.describe(f"local:{name}", state, is_ready=is_there)
            yield replace(entry, window=weights.choose_context(entry.window), size=weights.size)
        for name, file in list_models(self._options.folders):
            entry = self.describe(f"local:{name}", str(file.path))
            yield replace(entry, window=file.choose_context(entry.window), size=file.size)

    def list_chosen(self) -> Iterator[ModelEntry]:
        """Yield the model in use and its fallbacks, unless they are embedded."""
        first = [self.active] if self.active else []
        names: Sequence[str] = [*first, *(name for name in self._options.fallbacks if name != self.active)]
        for name in names:
            if not name.startswith("local:"):
                state, missing = "in use" if name == self.active else "fallback", self._find_missing(name)
                shown = f"{state}, not set up: {missing[0].lower()}{missing[1:-1]}" if missing else state
                yield self.describe(name, shown, is_ready=not missing)

    def describe(self, name: str, state: str, *, is_ready: bool = True) -> ModelEntry:
        """Return the entry of a model by its full name."""
        options = self._options
        known = find_known(name_publicly(options.known_as, name))
        return ModelEntry(
            name=name,
            state=state,
            is_ready=is_ready,
            is_active=name == self.active,
            price=find_price(options, name).find_price_for(0),
            window=options.find_window(name) or (known.context_window if known else None),
        )

    def _find_missing(self, name: str) -> str:
        """Return what has to be set before a model can be used, as `Set …`."""
        provider = expand_alias(name.partition(":")[0], self._options)
        is_known = provider in PROVIDERS or provider in self._options.providers
        return configure(provider, self._options, self._owner).missing if is_known else ""

    async def list_providers(self, *, set_up_only: bool = False) -> list[ProviderEntry]:
        """Return all providers; those that are set up or on this machine are asked, all at once."""
        providers = list_configured(self._options, self._owner)
        asking = [self._ask(each) for each in providers if each.is_set_up or not set_up_only]
        return list(await asyncio.gather(*asking))

    async def list_provider(self, name: str) -> ProviderEntry:
        """Return one provider with all its models.

        Raises:
            ConfigError: the provider is unknown, or cannot be used.
        """
        name = expand_alias(name, self._options)
        known = [each.name for each in list_configured(self._options)]
        if name not in known:
            raise ConfigError(explain_unknown("provider", name, [*known, "local"]))
        configured = configure(name, self._options, self._owner)
        configured.require()
        return await self._ask(configured)

    async def _ask(self, configured: ConfiguredProvider) -> ProviderEntry:
        if configured.missing or not (configured.is_set_up or configured.provider.is_local):
            return ProviderEntry(configured=configured)
        try:
            requester = connect(configured, "", self._options)
        except ConfigError:
            return ProviderEntry(configured=configured)
        try:
            report = await probe(requester)
        finally:
            await requester.close()
        models = [self.describe(f"{configured.name}:{model}", "listed") for model in report.models]
        return ProviderEntry(configured=configured, report=report, models=models)
