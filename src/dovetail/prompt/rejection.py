"""The error for an invalid slot; it needs pydantic and is therefore loaded on use."""

from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from dovetail.data.text import cut
from dovetail.errors import PromptError

LONGEST_VALUE = 200


class PromptValidationError(PromptError, ValidationError):
    """Invalid value of a slot; also a pydantic `ValidationError`."""

    def __init__(self, *_: Any) -> None:
        # Pydantic hands over its own arguments, which `__new__` has taken already.
        super().__init__(self.errors(include_url=False)[0]["msg"])

    def __reduce__(self) -> Any:
        """Go to another process with the text of the value, which may be any object."""
        context: Any = self.errors(include_url=False)[0].get("ctx")
        return _make, (context["path"], context["shown"], context["rule"], context["shown"]), dict(vars(self))


def reject(path: str, value: Any, rule: str) -> PromptValidationError:
    """Return the error that names the slot, the value and the rule."""
    return _make(path, cut(repr(value), LONGEST_VALUE), rule, value)


def _make(path: str, shown: str, rule: str, value: Any) -> PromptValidationError:
    problem = PydanticCustomError(
        "prompt_slot", "prompt slot {path}: {rule}, got {shown}", {"path": path, "rule": rule, "shown": shown}
    )
    return PromptValidationError.from_exception_data(
        "PromptModel", [{"type": problem, "loc": (path,), "input": value}]
    )
