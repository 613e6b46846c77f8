"""The settings of limits: what one run, one agent, one owner and the whole service may spend."""

from dovetail.settings.section import Section
from dovetail.settings.value import Count, Money, Seconds, Turns


class DayLimits(Section):
    """What may be spent in one day (UTC)."""

    cost: Money | None = None
    """Money, in the currency of the prices."""

    calls: Count | None = None
    """Requests to models."""


class AnswerLimits(Section):
    """How long one answer of a model may be, in characters; it is cut off there."""

    text: Count = 2_000_000
    """Characters of text."""

    reasoning: Count = 2_000_000
    """Characters of reasoning."""

    arguments: Count = 5_000_000
    """Characters of the arguments of all its calls."""


class LimitSettings(Section, key="limits"):
    """What runs may spend, checked before each request to a model. An agent's own limits may be lower."""

    cost: Money | None = None
    """Money of one run and the agents below it, in the currency of the prices; 0 allows only free models."""

    calls: Count | None = None
    """Requests to models of one run and the agents below it."""

    tokens: Count | None = None
    """Tokens of one run and the agents below it."""

    turns: Turns | None = None
    """Turns of one run."""

    seconds: Seconds | None = None
    """Seconds of one run."""

    answer: AnswerLimits = AnswerLimits()
    """How long one answer of a model may be: it is cut off there, if its server never ends it."""

    day: DayLimits = DayLimits()
    """What all runs together may spend in one day (UTC)."""

    owner_day: DayLimits = DayLimits()
    """Servers only: what the runs of each owner may spend in one day (UTC)."""

    agent_day: DayLimits = DayLimits()
    """What the runs of each agent may spend in one day (UTC)."""

    @property
    def limit_days(self) -> bool:
        """Whether days are limited."""
        days = (self.day, self.owner_day, self.agent_day)
        return any(limit is not None for day in days for limit in (day.cost, day.calls))

    @property
    def are_set(self) -> bool:
        """Whether anything is limited."""
        return self.limit_days or any(limit is not None for limit in (self.cost, self.calls, self.tokens))
