"""The prompt that a file makes, without an agent to run it."""

from collections.abc import Mapping
from typing import Any

from dovetail.agent.agent import Agent
from dovetail.agent.runtime import Runtime
from dovetail.agent.shorthands import PromptShorthands
from dovetail.data.text import did_you_mean
from dovetail.errors import PromptError
from dovetail.prompt.configure import AliasStep, configure
from dovetail.prompt.prompt import Prompt
from dovetail.prompt.source import Source


class Draft:
    """The prompt of a file; aliases that write no slot are not called, since the prompt is only shown."""

    def __init__(self, source: Source, variables: Mapping[str, Any], key: str | None = None) -> None:
        self.skipped: dict[str, str] = {}
        self.refused: dict[str, str] = {}
        self._agent = Agent(runtime=Runtime())  # one that is never run needs no settings
        prompts = (self._agent.agent_prompt, self._agent.request_prompt)
        configuration = configure(source, variables, key)
        self.doubts = configuration.doubts
        configuration.apply(*prompts, self._take_alias)

    @property
    def prompt(self) -> Prompt:
        """The prompt of the request, over the agent's own."""
        return self._agent.request_prompt

    @property
    def unknown(self) -> dict[str, str]:
        """The skipped aliases that no agent has."""
        return {name: message for name, message in self.skipped.items() if not hasattr(Agent, name)}

    def check_aliases(self) -> None:
        """Raise an error if an alias could not be called with its parameters."""
        for message in self.refused.values():
            raise PromptError(message)

    def _take_alias(self, step: AliasStep) -> None:
        if step.problem is not None and hasattr(Agent, step.name):
            raise step.problem
        if step.name.startswith("_") or not hasattr(PromptShorthands, step.name):
            self.skipped[step.name] = _explain_skip(step.name)
            return
        try:
            step.apply(getattr(self._agent, step.name))
        except PromptError:
            raise
        except TypeError as error:
            text = str(error).removeprefix(f"{PromptShorthands.__name__}.")
            self.refused[step.name] = f".alias {step.name}: {text}"


def _explain_skip(name: str) -> str:
    if hasattr(Agent, name) and not name.startswith("_"):
        return f".alias {name} writes no slot, so it is not called here"
    hint = did_you_mean(name, dir(Agent), most=1)
    return f".alias {name} is skipped: an agent has no such method. {hint}".rstrip()
