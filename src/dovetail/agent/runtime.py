"""The defaults of agents: settings, tools, bus and models.

A `Dovetail` app has a runtime of its own; agents that are created without an app share one.
"""

import logging
import os
import sys
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from dovetail.lazy import lazy
from dovetail.requesters.requester import Requester
from dovetail.settings import Settings, default_settings
from dovetail.settings.limits import LimitSettings
from dovetail.settings.model import ModelSettings
from dovetail.settings.sections import BusSettings, RuntimeSettings, ToolSettings

if TYPE_CHECKING:
    from dovetail.data import secrets as _masking
    from dovetail.events import run_context as _context
    from dovetail.loop import budget as _budget
    from dovetail.loop import compaction as _compaction
    from dovetail.loop import guard as _guard
    from dovetail.loop import loop as _loop
    from dovetail.loop import spend as _spend
    from dovetail.loop.compaction import Summaries
    from dovetail.loop.loop import LoopOptions, TurnLoop
    from dovetail.loop.spend import SpendBook
    from dovetail.policy import bus as _bus
    from dovetail.policy import policy as _policy
    from dovetail.policy.bus import MessageBus
    from dovetail.policy.policy import Policy
    from dovetail.requesters import prices as _prices
    from dovetail.requesters import resolve as _resolve
    from dovetail.requesters.prices import Pricing
    from dovetail.tools import artifacts as _artifact
    from dovetail.tools import manager as _manager
    from dovetail.tools import registry as _registry
    from dovetail.tools.artifacts import ArtifactStore, LastingArtifacts
    from dovetail.tools.manager import ToolManager
    from dovetail.tools.pipeline import runner as _runner
    from dovetail.tools.pipeline.runner import ToolRunner
    from dovetail.tools.registry import ToolRegistry
    from dovetail.tools.snapshot import ToolSnapshot
else:
    _artifact = lazy("dovetail.tools.artifacts")
    _budget = lazy("dovetail.loop.budget")
    _bus = lazy("dovetail.policy.bus")
    _compaction = lazy("dovetail.loop.compaction")
    _context = lazy("dovetail.events.run_context")
    _guard = lazy("dovetail.loop.guard")
    _loop = lazy("dovetail.loop.loop")
    _prices = lazy("dovetail.requesters.prices")
    _spend = lazy("dovetail.loop.spend")
    _masking = lazy("dovetail.data.secrets")
    _manager = lazy("dovetail.tools.manager")
    _policy = lazy("dovetail.policy.policy")
    _registry = lazy("dovetail.tools.registry")
    _resolve = lazy("dovetail.requesters.resolve")
    _runner = lazy("dovetail.tools.pipeline.runner")


logger = logging.getLogger(__name__)

MOST_SHARED = 100
"""Requesters that are kept for the next request; clients choose the names of models."""


class Runtime:
    """Settings, tools, bus and models; each part is created when it is first needed."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        make_policy: "Callable[[], Policy] | None" = None,
        artifacts: "ArtifactStore | None" = None,
    ) -> None:
        self.settings = settings if settings is not None else default_settings()
        self._make_policy = make_policy
        self._artifacts = artifacts

    @cached_property
    def tools(self) -> "ToolRegistry":
        """All tools by name; the settings select those in use."""
        registry: ToolRegistry = _registry.ToolRegistry()
        current = ToolSettings()

        def limit() -> None:
            nonlocal current
            wanted = self.settings.section(ToolSettings)
            if (wanted.allowed, wanted.excluded) != (current.allowed, current.excluded):
                registry.limit(wanted.allowed, wanted.excluded)
            current = wanted

        registry.refresh_with(limit)
        return registry

    @cached_property
    def bus(self) -> "MessageBus":
        """The message bus: it publishes messages and asks, and takes answers."""
        return _bus.MessageBus()

    @property
    def active_bus(self) -> "MessageBus | None":
        """The bus, unless the settings disable it."""
        return self.bus if self.settings.section(BusSettings).enabled else None

    @cached_property
    def policy(self) -> "Policy":
        """The policy: which calls are allowed without asking."""
        return _policy.Policy() if self._make_policy is None else self._make_policy()

    @cached_property
    def runner(self) -> "ToolRunner":
        """The pipeline of every call."""
        self.settings.compute(_masking.protect_settings)
        return _runner.ToolRunner(
            policy=self.policy,
            artifacts=self._artifacts or self.artifacts,
            hide=self._hide,
        )

    def _hide(self, text: str) -> str:
        """Mask the secrets of the settings in a text."""
        return self.settings.compute(_masking.SecretMask.of).apply(text)

    @cached_property
    def artifacts(self) -> "LastingArtifacts":
        """The store of large results, unless another one was given."""
        return _artifact.LastingArtifacts()

    @cached_property
    def _summaries(self) -> "Summaries":
        """The summaries of long conversations, which later answers build on."""
        return _compaction.Summaries()

    @cached_property
    def manager(self) -> "ToolManager":
        """The agents' face of the tools (rule A20): registered, tagged and called by name."""
        return _manager.ToolManager(self.tools, self.runner)

    def window(self, requester: Requester, settings: Settings | None = None) -> int | None:
        """Return the context window in tokens: from the settings, otherwise from the requester."""
        chosen = self.settings if settings is None else settings
        known: int | None = getattr(requester, "context_tokens", None)
        return chosen.section(ModelSettings).find_window(requester.model) or known

    @cached_property
    def spend(self) -> "SpendBook":
        """What each day has spent; in memory, unless a database is given."""
        return _spend.SpendBook()

    def price(self, requester: Requester, settings: Settings | None = None) -> "Pricing":
        """Return what the tokens of a model cost: as its requester says, otherwise by its name."""
        known: Pricing | None = getattr(requester, "price", None)
        options = (self.settings if settings is None else settings).section(ModelSettings)
        return known or _prices.find_price(options, requester.model)

    def limit(self, requester: Requester, agent: str, settings: Settings) -> Requester:
        """Return the requester of one request: behind a guard if spending is limited, or inside of a run."""
        limits = settings.section(LimitSettings)
        # If no run was ever made, there is none around this request, and nothing needs to be loaded.
        around = (
            _budget.find_budget(_context.current_run()) if "dovetail.loop.budget" in sys.modules else None
        )
        if around is None and not limits.are_set:
            return requester
        budget = _budget.Budget(
            _budget.BudgetLimits(turns=None, seconds=None).within(limits),
            parent=around,
            days=_spend.open_days(self.spend, settings, agent),
        )
        return _guard.GuardedRequester(requester, budget, self.price(requester, settings), counts_tokens=True)

    def make_loop(
        self,
        requester: Requester,
        tools: "ToolSnapshot",
        settings: Settings | None = None,
        **given: "Unpack[LoopOptions]",
    ) -> "TurnLoop":
        """Build the loop of a run or a request; `settings` are its own, otherwise those of the runtime."""
        chosen = self.settings if settings is None else settings
        return _loop.TurnLoop(
            requester=requester,
            tools=tools,
            runner=self.runner,
            window=chosen.section(ModelSettings).find_window(requester.model),
            summaries=self._summaries,
            price=self.price(requester, chosen),
            records_requests=chosen.section(RuntimeSettings).record_requests,
            sizes=chosen.section(LimitSettings).answer,
            **given,
        )

    def requester(self, model: Any = None, settings: Settings | None = None) -> Requester:
        """Return the requester of a model by name or object; None means the one that the settings choose.

        Without settings of their own, callers share the requesters of remote models and must not close them.
        """
        self.settings.compute(_masking.protect_settings)
        if settings is not None or not (model is None or isinstance(model, str)):
            return _resolve.resolve(model, self.settings if settings is None else settings)
        shared = self.settings.compute(_share_requesters)
        requester = shared.pop(model, None) or _resolve.resolve(model, self.settings)
        if isinstance(requester, _resolve.HttpRequester):  # embedded models come and go
            shared[model] = requester  # the last one is the one used last
            for name in [*shared][:-MOST_SHARED]:
                shared.pop(name, None)  # its connections belong to all requesters
        return requester

    async def learn_names(self, model: Any = None) -> None:
        """Ask the user's servers for the names of their models if `requester` would have to.

        Await this on an event loop that serves others, too.
        """
        if not (model is None or isinstance(model, str)):
            return
        if model not in self.settings.compute(_share_requesters):
            await _resolve.learn_names(model, self.settings)


def _share_requesters(settings: Settings) -> dict[str | None, Requester]:
    """Return an empty store of shared requesters, which is dropped when the settings change."""
    return {}


_default: Runtime | None = None


def default_runtime() -> Runtime:
    """Return the runtime that agents without a runtime of their own share."""
    global _default
    if _default is None:
        _default = Runtime()
        if os.path.exists("dovetail.toml"):
            logger.info(
                "An Agent() without an app does not read dovetail.toml; use Dovetail().create_agent()."
            )
    return _default
