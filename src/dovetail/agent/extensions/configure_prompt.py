"""Fills the agent's prompts from YAML or JSON configurations (document 000, 4)."""

import difflib
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dovetail.agent.base import BaseAgent
from dovetail.lazy import lazy

if TYPE_CHECKING:
    from dovetail.prompt.configure import AliasStep, Configuration

logger = logging.getLogger(__name__)

_configure = lazy("dovetail.prompt.configure")


class ConfigurePromptExtension(BaseAgent):
    """An agent extension: `load_yaml_prompt` and `load_json_prompt`."""

    def load_yaml_prompt(
        self,
        path_or_content: str | Path,
        mappings: Mapping[str, Any] | None = None,
        prompt_key_path: str | None = None,
    ) -> Self:
        """Fill the prompts from a YAML file or text; `prompt_key_path` picks a part of the document."""
        return self._configure(_configure.read_yaml_prompt(path_or_content, mappings, prompt_key_path))

    def load_json_prompt(
        self,
        path_or_content: str | Path,
        mappings: Mapping[str, Any] | None = None,
        prompt_key_path: str | None = None,
    ) -> Self:
        """Fill the prompts from a JSON or JSON5 file or text; `prompt_key_path` picks a part of it."""
        return self._configure(_configure.read_json_prompt(path_or_content, mappings, prompt_key_path))

    def _configure(self, configuration: "Configuration") -> Self:
        configuration.apply(self.agent_prompt, self.request_prompt, self._call_alias)
        return self

    def _call_alias(self, step: "AliasStep") -> None:
        method = None if step.name.startswith("_") else getattr(self, step.name, None)
        if callable(method):
            method(*step.args, **step.kwargs)
            return
        names = [name for name in dir(self) if not name.startswith("_")]
        near = difflib.get_close_matches(step.name, names, n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        logger.warning("the alias %r is skipped: the agent has no such method%s", step.name, hint)
