"""The arguments and methods of an agent: what they may be, and what to write instead of a wrong one."""

import inspect
import logging
import re
from abc import ABCMeta
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dovetail.data.text import did_you_mean, expected_one_of, shorten
from dovetail.errors import ConfigError, SignatureError
from dovetail.lazy import lazy
from dovetail.requesters.warn import warn_once
from dovetail.settings import Settings

if TYPE_CHECKING:
    from dovetail.requesters import resolve as _resolve
else:
    _resolve = lazy("dovetail.requesters.resolve")

logger = logging.getLogger(__name__)

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
    **dict.fromkeys(
        (
            *("output", "output_schema", "output_type", "response_format", "response_model"),
            *("result_type", "returns"),
        ),
        "`agent.input('…').returns(Model).start()` or `agent.run('…', returns=Model)`",
    ),
    "limits": "`settings={{'limits': {{…}}}}`",
    "provider": "`model='provider:name'`",
}
"""The arguments of other libraries, and ours for the same thing."""

_MODEL = re.compile(
    r"(?=.*\d)(?:gpt|claude|gemini|gemma|llama|qwen|mistral|deepseek|grok|phi)[\d-][\w.-]*|o\d(?:-\w+)*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"you are\b.*|.*\s.*[.!?]|\S+(?:\s+\S+){7,}", re.IGNORECASE | re.DOTALL)

METHODS = {
    **dict.fromkeys(("stream", "stream_text", "iter"), "agent.input('…').get_generator()"),
    **dict.fromkeys(("astream", "get_async_generator"), "agent.input('…').async_get_generator()"),
    **dict.fromkeys(("ask", "call", "complete", "generate", "predict"), "agent.input('…').start()"),
    **dict.fromkeys(("invoke", "kickoff", "run_sync"), "agent.run('…')"),
    **dict.fromkeys(("ainvoke", "arun"), "await agent.async_run('…')"),
    "prompt": "agent.agent_prompt",
    "remove_agent_prompt": "agent.agent_prompt.delete(key)",
    "request": "agent.input('…')",
    "tool": "@agent.tool_func",
    "tool_plain": "@agent.tool_func",
    "with_structured_output": "agent.input('…').returns(Model).start()",
}
"""The methods of other libraries, and how to write the same thing here."""

_OPTIONS = (
    *("temperature", "max_tokens", "max_completion_tokens", "max_output_tokens", "top_p", "top_k", "stop"),
    *("presence_penalty", "frequency_penalty", "repetition_penalty", "reasoning_effort", "thinking"),
    *("response_format", "tool_choice", "parallel_tool_calls", "logit_bias", "logprobs", "top_logprobs"),
    *("metadata", "service_tier", "verbosity", "stop_sequences", "thinking_budget", "truncation"),
)
"""Options that providers know; any other is sent as it is."""

_TIMEOUT = "Pass a time limit where the request is made: `start(timeout=…)` or `get_response(timeout=…)`."
_RUN_OPTIONS = {
    **dict.fromkeys(("options", *_OPTIONS), "`agent.options({'max_tokens': 500}).run('…')`"),
    **dict.fromkeys(("limit", "max_turns", "max_steps", "max_rounds", "turns"), "`limits={'turns': …}`"),
    **dict.fromkeys(("seconds", "time_limit", "timeout"), "`limits={'seconds': …}`"),
    **dict.fromkeys(("cost", "max_cost"), "`limits={'cost': …}`"),
    **dict.fromkeys(("callback", "on_events"), "`on_event=…`"),
    **dict.fromkeys(("output", "output_type", "response_format", "result_type"), "`returns=Model`"),
    **dict.fromkeys(("chat_history", "message_history", "messages"), "`history=result.messages`"),
    "model": "`Agent(model='provider:name').run('…')`",
    **dict.fromkeys(("functions", "tools"), "`Agent(tools=[…]).run('…')`"),
    **dict.fromkeys(("instructions", "system", "system_prompt"), "`Agent(system='…').run('…')`"),
}
"""What other libraries and `start` call the options of a run."""


def warn_of_options(options: Mapping[str, Any]) -> None:
    """Log options whose names are nearly those that providers know; they are sent all the same."""
    for name in options:
        if name not in _OPTIONS and (meant := did_you_mean(name, _OPTIONS, most=1, cutoff=0.85)):
            logger.warning("The option %r is sent to the provider as it is. %s", name, meant)


UNLISTED = frozenset(
    {
        *("ask_for", "claim_request", "get_native_tools"),
        *("begin_with", "get_prompt", "list_traits", "pending", "requester", "runtime", "set_up"),
        *("agent_prompt", "extension_handlers", "request_prompt"),
        *(
            "get_result",
            "async_get_result",
            "get_data_object",
            "async_get_data_object",
        ),  # get_response, returns
        *("async_close", "async_start_waiter", "on_key", "start_waiter", "use_tool"),
    }
)
"""Names of an agent that completion does not offer. They keep it running, extensions override them, or a
listed name does the same."""


def list_names(names: Iterable[str]) -> list[str]:
    """Return the names that completion offers."""
    return [name for name in names if name not in UNLISTED]


class Listed(ABCMeta):
    """The type of classes whose `dir` has the listed names only."""

    def __dir__(cls) -> list[str]:
        return list_names(super().__dir__())


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


def explain_call(method: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> SignatureError | None:
    """Return the error for a call that does not fit the method's signature; None if it does."""
    signature = inspect.signature(method)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        hint = _TIMEOUT if "timeout" in kwargs and "timeout" not in signature.parameters else None
        if len(args) > 1 and "returns" in signature.parameters:
            hint = "The type of the answer is named: returns=…"
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


def warn_of_second_output(known: Any, kind: Any) -> None:
    """Log that the output of a request is not asked for, because the request returns a type."""
    if known is not None:
        logger.warning(
            "The request has an output, %s, which is not asked for: returns(%s) replaces it.",
            shorten(known),
            getattr(kind, "__name__", kind),
        )


def warn_of_model_as_output(output: Any) -> None:
    """Log once that a pydantic class as the output is asked for as a value with a reply (rule P8)."""
    if isinstance(output, type) and hasattr(output, "model_validate"):
        name = output.__name__
        warn_once(
            f"output({name}) asks the model for {{'value': …, 'reply': …}}. "
            f"To get an instance of {name}, write `.returns({name})`."
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
