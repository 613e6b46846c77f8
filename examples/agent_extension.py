"""An agent extension of your own: every request knows what day it is."""

import datetime

from dovetail import Agent, BaseAgent, Prompt
from dovetail.settings import Settings


class TodayExtension(BaseAgent):
    """Tells the model the date."""

    def set_up(self) -> None:
        """Join in every request."""
        super().set_up()
        self.extension_handlers.append("request_prefixes", self._tell_date)

    def _tell_date(self, prompt: Prompt, settings: Settings) -> None:
        prompt.set("info", {"today": datetime.date.today().isoformat()})


class DatedAgent(TodayExtension, Agent):
    """An agent that knows the date."""


if __name__ == "__main__":
    print(DatedAgent().input("Which day of the week is it?").start())
