"""Write an agent extension: add today's date to every request."""

import datetime

from dovetail import Agent, BaseAgent, Prompt
from dovetail.settings import Settings


class TodayExtension(BaseAgent):
    """Adds the date to the prompt."""

    def set_up(self) -> None:
        """Register a handler that runs before every request."""
        super().set_up()
        self.extension_handlers.append("request_prefixes", self._add_date)

    def _add_date(self, prompt: Prompt, settings: Settings) -> None:
        prompt.set("info", {"today": datetime.date.today().isoformat()})


class DatedAgent(TodayExtension, Agent):
    """An agent that knows the date."""


if __name__ == "__main__":
    print(DatedAgent().input("Which date is it today?").start())
