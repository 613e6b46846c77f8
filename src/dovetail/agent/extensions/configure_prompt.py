"""Fill the agent's prompts from YAML or JSON configurations (rule A120)."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dovetail.agent.base import BaseAgent
from dovetail.data.text import did_you_mean
from dovetail.lazy import lazy

if TYPE_CHECKING:
    from dovetail.prompt.configure import AliasStep, Configuration

logger = logging.getLogger(__name__)

_configure = lazy("dovetail.prompt.configure")


class ConfigurePromptExtension(BaseAgent):
    """An agent extension: `load_yaml_prompt` and `load_json_prompt`.

    >>> text = '{"$system": "Sell ${what}.", "input": "What is new?"}'
    >>> Agent().load_json_prompt(text, {"what": "wood"}).request_prompt
    Prompt({'system': 'Sell wood.', 'input': 'What is new?'})
    """

    def load_yaml_prompt(
        self,
        path_or_content: str | Path,
        mappings: Mapping[str, Any] | None = None,
        prompt_key_path: str | None = None,
        encoding: str | None = "utf-8",
    ) -> Self:
        r"""Fill the prompts from a YAML file or text; `prompt_key_path` picks a part of the document.

        >>> text = "doors:\n  input: A wood for ${what}?\nboats:\n  input: Which boat?"
        >>> Agent().load_yaml_prompt(text, {"what": "doors"}, prompt_key_path="doors").request_prompt
        Prompt({'input': 'A wood for doors?'})
        """
        read = _configure.read_yaml_prompt
        return self._configure(read(path_or_content, mappings, prompt_key_path, encoding))

    def load_json_prompt(
        self,
        path_or_content: str | Path,
        mappings: Mapping[str, Any] | None = None,
        prompt_key_path: str | None = None,
        encoding: str | None = "utf-8",
    ) -> Self:
        """Fill the prompts from a JSON or JSON5 file or text; `prompt_key_path` picks a part of it.

        >>> text = '{"input": "A wood for doors?", "output": {"wood": {"$type": "str"}}}'
        >>> Agent().load_json_prompt(text).start()
        {'wood': 'oak'}
        """
        read = _configure.read_json_prompt
        return self._configure(read(path_or_content, mappings, prompt_key_path, encoding))

    def _configure(self, configuration: "Configuration") -> Self:
        for step in configuration.aliases:  # before anything is set
            if step.problem is not None and self._find_alias(step.name) is not None:
                raise step.problem
        for doubt in configuration.doubts.values():
            logger.warning("%s", doubt)
        configuration.apply(self.agent_prompt, self.request_prompt, self._call_alias)
        return self

    def _find_alias(self, name: str) -> Callable[..., object] | None:
        """Return the public method of that name, unless its result must be awaited."""
        method = None if name.startswith(("_", "async_")) else getattr(self, name, None)
        return method if callable(method) else None

    def _call_alias(self, step: "AliasStep") -> None:
        method = self._find_alias(step.name)
        if method is not None:
            step.apply(method)
            return
        names = [name for name in dir(type(self)) if callable(getattr(type(self), name))]
        names = [name for name in names if not name.startswith(("_", "async_"))]
        hint = did_you_mean(step.name.removeprefix("async_"), names)
        text = f"The alias {step.name!r} is skipped: the agent has no such method. {hint}"
        logger.warning("%s", text.rstrip())
