"""The arguments of an agent's constructor: what they may be, and what to write instead of a wrong one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dovetail.data.text import did_you_mean, expected_one_of, shorten
from dovetail.errors import ConfigError, SignatureError
from dovetail.lazy import lazy
from dovetail.settings import Settings

if TYPE_CHECKING:
    from dovetail.requesters import resolve as _resolve
else:
    _resolve = lazy("dovetail.requesters.resolve")

_KNOWN = ("name", "model", "system", "tools", "options", "settings", "requester", "runtime")
_MEANT = {
    **dict.fromkeys(
        ("instruction", "instructions", "prompt", "system_message", "system_prompt"), "`system=…`"
    ),
    **dict.fromkeys(("llm", "model_id", "model_name"), "`model=…`"),
    **dict.fromkeys(("functions", "tool"), "`tools=[…]`"),
    **dict.fromkeys(("api_key", "base_url"), "`settings={{'model': {{'{name}': …}}}}`"),
    **dict.fromkeys(
        ("max_tokens", "seed", "stop", "temperature", "thinking", "top_p"), "`options={{'{name}': …}}`"
    ),
    **{
        f"max_{limit}": f"`settings={{{{'limits': {{{{'{limit}': …}}}}}}}}`"
        for limit in ("calls", "cost", "seconds", "turns")
    },
    "fallbacks": "`settings={{'model': {{'fallbacks': […]}}}}`",
    "limits": "`settings={{'limits': {{…}}}}`",
    "provider": "`model='provider:name'`",
}
"""The arguments of other libraries, and ours for the same thing."""


def explain_argument(argument: str, kind: str) -> SignatureError:
    """Return the error for an argument that the class `kind` does not have."""
    meant = _MEANT.get(argument, "").format(name=argument)
    hint = f"Write {meant}." if meant else did_you_mean(argument, _KNOWN) or expected_one_of(_KNOWN)
    return SignatureError(f"Unknown argument {argument!r} of {kind}. {hint}")


def layer_settings(settings: Settings | Mapping[str, Any] | None, parent: Settings) -> Settings:
    """Return the settings of an agent, on top of those of its runtime or of the settings given to it."""
    if isinstance(settings, Settings):
        return Settings(parent=settings)
    return Settings(settings, parent=parent)


def check_name(name: str, settings: Settings) -> None:
    """Refuse the name of a model as the name of an agent."""
    if ":" in name and _resolve.names_provider(name, settings):
        raise SignatureError(
            f"Invalid agent name {name!r}: it looks like the name of a model. Write Agent(model={name!r})."
        )


def check_model(model: Any) -> Any:
    """Return the model, unless its name is empty."""
    if isinstance(model, str) and not model.strip():
        raise ConfigError("The model's name is empty.", hint="Write provider:name, or None for the default.")
    return model


def check_requester(requester: Any) -> Any:
    """Return the requester, if it is one."""
    if requester is not None and not hasattr(requester, "stream"):
        raise ConfigError(
            f"{shorten(requester)} is not a requester: it has no `stream`.",
            hint="For a model's name, write Agent(model='provider:name').",
        )
    return requester
