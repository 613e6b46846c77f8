"""The shorthands of agents that fill the slots of a prompt."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from dovetail.agent.arguments import warn_of_model_as_output, warn_of_options
from dovetail.agent.attachments import read_attachments
from dovetail.data.shapes import is_mapping
from dovetail.prompt.prompt import Prompt

Mappings = Mapping[str, Any] | None

_NOTICES = {
    "role": "{system.role} says who you are: think and answer as that.",
    "rule": "{system.rule} holds rules that you must always follow.",
    "user_info": "{system.user_info} is what you know about the user: keep it in mind.",
}


class PromptShorthands(ABC):
    """Write slots; with `always` into the agent's own prompt, otherwise into the next request only."""

    @abstractmethod
    def get_prompt(self, always: bool) -> Prompt:
        """Return the prompt to write into."""

    def set_agent_prompt(self, key: str, value: Any, mappings: Mappings = None) -> Self:
        """Set any slot for every request.

        >>> agent = Agent().set_agent_prompt("house style", "Use metric units.")
        >>> agent.input("How thick is a door?").request_prompt
        Prompt({'house style': 'Use metric units.', 'input': 'How thick is a door?'})
        """
        return self._write(key, value, mappings, always=True)

    def set_request_prompt(self, key: str, value: Any, mappings: Mappings = None) -> Self:
        """Set any slot for the next request.

        >>> Agent().set_request_prompt("input.place", "outdoors").request_prompt
        Prompt({'input': {'place': 'outdoors'}})
        """
        return self._write(key, value, mappings, always=False)

    def input(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set what the model should work on.

        >>> agent = Agent().input({"item": "door", "place": "${place}"}, {"place": "outdoors"})
        >>> agent.request_prompt["input"]
        {'item': 'door', 'place': 'outdoors'}
        """
        return self._write("input", prompt, mappings, always=always)

    def info(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set what the model should know.

        >>> agent = Agent().info({"in stock": ["oak", "teak"]}, always=True)
        >>> agent.input("A wood for doors?").start()
        'Oak.'
        >>> agent.input("And for boats?").request_prompt["info"]
        {'in stock': ['oak', 'teak']}
        """
        return self._write("info", prompt, mappings, always=always)

    def instruct(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set what the model should do.

        >>> agent = Agent().instruct(["Name one wood for the {input}.", "Use one word."], always=True)
        >>> agent.input("door").start()
        'Oak.'
        """
        return self._write("instruct", prompt, mappings, always=always)

    def examples(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set examples of good answers.

        >>> agent = Agent().examples({"input": "A wood for boats?", "output": "Teak."}, always=True)
        >>> agent.input("A wood for doors?").start()
        'Oak.'
        """
        return self._write("examples", prompt, mappings, always=always)

    def output(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set what the answer should contain: fields as `{"name": (type, "description")}`.

        The types describe the answer and are not enforced; `returns(Model)` validates and asks again.

        >>> agent = Agent().input("A wood for doors?")
        >>> agent.output({"wood": (str, "in English"), "uses": [(str, "an item")]}).start()
        {'wood': 'oak', 'uses': ['doors', 'barrels']}
        """
        warn_of_model_as_output(prompt)
        return self._write("output", prompt, mappings, always=always)

    def attachment(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Attach images, files and other parts; a `Path` and bytes are read, with their media type.

        Raises:
            ConfigError: a file cannot be read, or a part has neither data nor an address.

        >>> picture = {"type": "image_url", "image_url": {"url": "https://example.com/door.png"}}
        >>> Agent().input("Which wood is this?").attachment([picture]).start()
        'Oak.'
        """
        return self._write("attachment", read_attachments(prompt), mappings, always=always)

    def options(self, options: Mapping[str, Any], *, always: bool = False) -> Self:
        """Set options for the provider, such as `temperature`.

        >>> agent = Agent().options({"temperature": 0, "max_tokens": 5})
        >>> agent.input("A wood for doors?").start()
        'Oak.'
        """
        warn_of_options(options)
        return self._write("options", options, None, always=always)

    def system(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set what applies to the whole conversation; a role, rules and user information stay.

        >>> agent = Agent().role("You are a carpenter.").system("Be brief.")
        >>> list(agent.request_prompt["system"])
        ['role', 'notice', 'general']
        """
        known = self.get_prompt(always).get("system")
        has_company = is_mapping(known) and "notice" in known and not is_mapping(prompt)
        return self._write("system.general" if has_company else "system", prompt, mappings, always=always)

    def role(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set who the model is, in addition to the rest of the system slot.

        >>> agent = Agent().role("You are a ${who}.", {"who": "carpenter"}, always=True)
        >>> agent.input("A wood for doors?").start()
        'Oak.'
        """
        return self._write_system("role", prompt, mappings, always=always)

    def rule(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set rules to follow, in addition to the rest of the system slot.

        >>> agent = Agent().rule(["Name one wood."], always=True).rule(["Use one word."])
        >>> agent.request_prompt["system.rule"]  # lists add up
        ['Use one word.', 'Name one wood.']
        """
        return self._write_system("rule", prompt, mappings, always=always)

    def user_info(self, prompt: Any, mappings: Mappings = None, *, always: bool = False) -> Self:
        """Set what is known about the user, in addition to the rest of the system slot.

        >>> agent = Agent().user_info({"name": "Ann"}, always=True).user_info({"lives": "by the sea"})
        >>> agent.request_prompt["system.user_info"]
        {'name': 'Ann', 'lives': 'by the sea'}
        """
        return self._write_system("user_info", prompt, mappings, always=always)

    def _write(self, key: str, value: Any, mappings: Mappings, *, always: bool) -> Self:
        self.get_prompt(always).set(key, value, mappings)
        return self

    def _write_system(self, name: str, value: Any, mappings: Mappings, *, always: bool) -> Self:
        prompt = self.get_prompt(always)
        known = prompt.get("system")
        if not is_mapping(known):
            # A plain text cannot hold a second entry.
            prompt.replace("system", {"general": known} if known else {})
        prompt.set(f"system.{name}", value, mappings)
        prompt.set("system.notice", [_NOTICES[name]])
        return self
