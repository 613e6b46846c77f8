"""Prompts: slots in; text, messages and exports out."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports
from dovetail.prompt.prompt import Prompt

if TYPE_CHECKING:
    from dovetail.prompt.model import PromptModel

__all__ = ["Prompt", "PromptModel"]

__getattr__ = lazy_exports(__name__, {"PromptModel": "dovetail.prompt.model"})  # it needs pydantic
