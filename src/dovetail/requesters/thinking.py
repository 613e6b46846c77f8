"""How long a model thinks (`model.thinking`): what levels and numbers of tokens mean to every provider."""

from dataclasses import replace

from dovetail.events.call import ModelRequest
from dovetail.requesters.warn import warn_once
from dovetail.settings.model import Thinking
from dovetail.settings.value import check_value

BUDGETS = {"low": 2048, "medium": 8192, "high": 24_576}
"""Tokens for thinking, for models that take a number."""

_LEVELS = [("low", 4096), ("medium", 16_384)]


def settle_thinking(request: ModelRequest, usual: str | int | None = None) -> ModelRequest:
    """Return the request with its option `thinking`, or the usual level, as its `thinking`.

    A provider's own option of this name is an object and stays.

    Raises:
        ConfigError: the option is neither a level nor a number of tokens.
    """
    options = {**request.options}
    thinking = request.thinking or usual
    if isinstance(options.get("thinking"), str | int):
        thinking = check_value(options.pop("thinking"), Thinking, "options.thinking")
    return replace(request, options=options, thinking=thinking)


def name_level(thinking: str | int) -> str:
    """Return the level that a number of tokens stands for, for models that take no number."""
    if isinstance(thinking, str):
        return thinking
    return next((name for name, most in _LEVELS if thinking < most), "high")


def count_tokens(thinking: str | int) -> int:
    """Return the number of tokens that a level (not `off`) stands for, for models that take a number."""
    return thinking if isinstance(thinking, int) else BUDGETS[thinking]


def fit_tokens(model: str, thinking: str | int, least: int, most: int | None = None) -> int:
    """Return the number of tokens within the range that a model takes, with a warning if it is another."""
    wanted = count_tokens(thinking)
    fitting = max(wanted if most is None else min(wanted, most), least)
    if isinstance(thinking, int) and fitting != wanted:
        warn_once(f"{model} does not think for {wanted} tokens; the budget is set to {fitting}.")
    return fitting


def warn_always(model: str) -> None:
    """Warn that a model cannot be kept from thinking."""
    warn_once(f"{model} always thinks; it is asked to think little.")


def warn_never(model: str) -> None:
    """Warn that a model cannot think."""
    warn_once(f"{model} cannot think before it answers.")


def warn_ignored(model: str) -> None:
    """Warn that a model is not asked to think."""
    warn_once(f"{model} answers without the setting or option 'thinking', which it does not support.")
