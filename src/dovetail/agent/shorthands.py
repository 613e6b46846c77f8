"""The fluent way to fill a prompt: `agent.input("…").output({…})`."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from dovetail.data.shapes import is_mapping
from dovetail.prompt.prompt import Prompt

Mappings = Mapping[str, Any] | None

_NOTICES = {
    "role": "{system.role} says who you are: think and answer as that.",
    "rule": "{system.rule} holds rules that you must always follow.",
    "user_info": "{system.user_info} is what you know about the user: keep it in mind.",
}


class PromptShorthands(ABC):
    """Writes slots; with `always` into the agent's own prompt, else into the next request alone."""

    @abstractmethod
    def get_prompt(self, always: bool) -> Prompt:
        """The prompt to write into."""

    def set_agent_prompt(self, key: str, value: Any, mappings: Mappings = None) -> Self:
        """Set any slot for every request."""
        return self._write(key, value, mappings, always=True)

    def set_request_prompt(self, key: str, value: Any, mappings: Mappings = None) -> Self:
        """Set any slot for the next request."""
        return self._write(key, value, mappings, always=False)

    def input(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """What the model should work on."""
        return self._write("input", prompt, mappings, always=always)

    def info(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """What the model should know."""
        return self._write("info", prompt, mappings, always=always)

    def instruct(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """What the model should do."""
        return self._write("instruct", prompt, mappings, always=always)

    def examples(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """How good answers look."""
        return self._write("examples", prompt, mappings, always=always)

    def output(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """What the answer should hold: fields as `{"name": (type, "description")}`."""
        return self._write("output", prompt, mappings, always=always)

    def attachment(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Images, files and other parts that go along."""
        return self._write("attachment", prompt, mappings, always=always)

    def options(self, options: Mapping[str, Any], *, always: bool = False) -> Self:
        """Options for the provider, such as `temperature`."""
        return self._write("options", options, None, always=always)

    def system(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Who the model is and what holds for the whole conversation; a role, rules and the like stay."""
        known = self.get_prompt(always).get("system")
        has_company = is_mapping(known) and "notice" in known and not is_mapping(prompt)
        return self._write("system.general" if has_company else "system", prompt, mappings, always=always)

    def role(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Who the model is, beside what else the system slot says."""
        return self._write_system("role", prompt, mappings, always=always)

    def rule(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Rules to follow, beside what else the system slot says."""
        return self._write_system("rule", prompt, mappings, always=always)

    def user_info(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """What is known about the user, beside what else the system slot says."""
        return self._write_system("user_info", prompt, mappings, always=always)

    def _write(self, key: str, value: Any, mappings: Mappings, *, always: bool) -> Self:
        self.get_prompt(always).set(key, value, mappings)
        return self

    def _write_system(self, name: str, value: Any, mappings: Mappings, *, always: bool) -> Self:
        prompt = self.get_prompt(always)
        known = prompt.get("system")
        if not is_mapping(known):
            # A plain text has no room for a second thing.
            prompt.replace("system", {"general": known} if known else {})
        prompt.set(f"system.{name}", value, mappings)
        prompt.set("system.notice", [_NOTICES[name]])
        return self
