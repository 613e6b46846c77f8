"""Slots in; text, messages, output model and exports out."""

from typing import TYPE_CHECKING, Any

from dovetail.lazy import lazy
from dovetail.prompt.prompt import Prompt

if TYPE_CHECKING:
    from dovetail.prompt.model import PromptModel

__all__ = ["Prompt", "PromptModel"]

_model = lazy("dovetail.prompt.model")


def __getattr__(name: str) -> Any:
    """`PromptModel` needs pydantic, so it is loaded at its first use."""
    if name == "PromptModel":
        return _model.PromptModel
    raise AttributeError(
        f"module 'dovetail.prompt' has no attribute {name!r}; it exports: {', '.join(__all__)}"
    )
