"""The usage of one run by agent and model, counted from its events and stored with its end.

A sub-agent may use another model than the agent that called it, and a fallback another than the one that was
asked for: each turn counts for the model that answered it. The shares of a run are stored only if it had more
than one agent or model; otherwise its own row says it all.
"""

from typing import Any, TypeAlias

from dovetail.events.delta import Usage
from dovetail.events.run_events import RunStart, TurnEnd

Share: TypeAlias = tuple[str, str]
"""An agent and the model that it used."""


class Tally:
    """Count the usage of a run, its children included."""

    def __init__(self) -> None:
        self.total = Usage()
        self.shares: dict[Share, Usage] = {}
        self._named: dict[tuple[str, ...], Share] = {}

    @property
    def is_shared(self) -> bool:
        """Whether other agents or models than the run's own have a share."""
        own = next(iter(self._named.values()), ("", ""))
        return any(share != own for share in self.shares)

    def take(self, event: RunStart | TurnEnd, path: tuple[str, ...]) -> None:
        """Count an event of the run at `path`."""
        if isinstance(event, RunStart):
            self._named[path] = (event.agent, event.model)
            return
        self.total = self.total + event.usage
        agent, model = self._named.get(path, ("", ""))
        share = (agent, event.model or model)
        self.shares[share] = self.shares.get(share, Usage()) + event.usage


def to_columns(usage: Usage) -> dict[str, Any]:
    """Return the part of a usage that is counted in SQL, by column."""
    return {
        "cost": usage.cost,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }
