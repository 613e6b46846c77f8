"""The arguments and methods of an agent: what they may be, and what to write instead of a wrong one."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
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

_MODEL = re.compile(
    r"(?=.*\d)(?:gpt|claude|gemini|gemma|llama|qwen|mistral|deepseek|grok|phi)[\d-][\w.-]*|o\d(?:-\w+)*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"you are\b.*|.*\s.*[.!?]|\S+(?:\s+\S+){7,}", re.IGNORECASE | re.DOTALL)

_METHODS = {
    **dict.fromkeys(("stream", "stream_text", "iter"), "agent.input('…').get_generator()"),
    **dict.fromkeys(("astream", "get_async_generator"), "agent.input('…').async_get_generator()"),
    **dict.fromkeys(("ask", "call", "chat", "complete", "generate", "predict"), "agent.input('…').start()"),
    **dict.fromkeys(("invoke", "kickoff", "run_sync"), "agent.run('…')"),
    **dict.fromkeys(("ainvoke", "arun"), "await agent.async_run('…')"),
    "tool": "@agent.tool_func",
    "tool_plain": "@agent.tool_func",
    "with_structured_output": "agent.input('…').returns(Model).start()",
}
"""The methods of other libraries, and how to write the same thing here."""

_TIMEOUT = "Pass a time limit where the request is made: `start(timeout=…)` or `get_response(timeout=…)`."
_RUN_OPTIONS = {
    **dict.fromkeys(("limit", "max_turns", "max_steps", "max_rounds", "turns"), "`limits={'turns': …}`"),
    **dict.fromkeys(("seconds", "time_limit", "timeout"), "`limits={'seconds': …}`"),
    **dict.fromkeys(("cost", "max_cost"), "`limits={'cost': …}`"),
    **dict.fromkeys(("callback", "on_events"), "`on_event=…`"),
    **dict.fromkeys(("output", "output_type", "returns"), "`agent.input(…).returns(Model).start()`"),
}
"""What other libraries and `start` call the options of a run."""


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


def explain_method(kind: str, name: str) -> str:
    """Return what an `AttributeError` says about a method of another library, or of a misspelt one."""
    meant = _METHODS.get(name)
    return f"{kind!r} object has no attribute {name!r}" + (f". Write `{meant}`." if meant else "")


def explain_call(method: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> SignatureError | None:
    """Return the error for a call that does not fit the method's signature; None if it does."""
    signature = inspect.signature(method)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        hint = _TIMEOUT if "timeout" in kwargs and "timeout" not in signature.parameters else None
        return SignatureError(f"Cannot call {method.__name__}(): {error}.", hint=hint)
    return None


def refuse_options(given: Iterable[str], known: Iterable[str]) -> None:
    """Reject an unknown option of a run, which would otherwise be ignored."""
    for name in given:
        if name not in known:
            meant = _RUN_OPTIONS.get(name)
            hint = f"Write {meant}." if meant else did_you_mean(name, known) or expected_one_of(known)
            raise SignatureError(f"Unknown option {name!r} of run(). {hint}")


def refuse_second_input(known: Any, task: Any) -> None:
    """Reject the task of a run whose request has an input already, which the task would replace."""
    if known is not None:
        raise SignatureError(
            f"The request has an input already, {shorten(known)}, and run() got the task {shorten(task)}.",
            hint="Pass the task to run() alone, or call run() without one. For background, use info(…).",
        )


def check_name(name: str, settings: Settings, *, has_model: bool, has_system: bool) -> None:
    """Refuse the name of a model, or a system prompt, as the name of an agent."""
    is_model = ":" in name and _resolve.names_provider(name, settings)
    if is_model or (not has_model and _MODEL.fullmatch(name)):
        model = name if is_model else f"provider:{name}"
        raise SignatureError(
            f"Invalid agent name {name!r}: it looks like the name of a model. Write Agent(model={model!r})."
        )
    if not has_system and _SENTENCE.fullmatch(name):
        raise SignatureError(
            f"Invalid agent name {shorten(name)}: it looks like a system prompt. Write Agent(system=…)."
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
