"""How OpenAI-compatible servers differ where models think: one row per server, known by name or address.

Reasoning goes back the way it came, and only to the provider that it came from. A server without a row gets
the reasoning of turns with tool calls, as most of them want it; one that rejects it gets none from then on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from dovetail.requesters.openai.thinking import Style
from dovetail.requesters.parts import CallIds


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What is special about a server."""

    names: tuple[str, ...] = ()
    """Providers, as in a model's name."""

    hosts: tuple[str, ...] = ()
    """Ends of host names, for providers with another name."""

    returns: Literal["calls", "always", "never"] = "calls"
    """When reasoning goes back: for turns with tool calls, always, or never."""

    demands: str = ""
    """A field that each message with tool calls must have, even if it is empty."""

    ids: CallIds | None = None
    """The ids of calls that it accepts, if not all."""

    thinking: Style = "effort"
    """How the server is asked to think."""

    has_responses: bool = False
    """Whether models that think are better served by its Responses API."""

    fetches_files: bool = False
    """Whether a file may be a URL, and not only an image."""


_SHORT = CallIds("(?s:.{1,40})")

DIALECTS: Sequence[Dialect] = (
    Dialect(names=("openai",), hosts=("api.openai.com",), has_responses=True, ids=_SHORT),
    Dialect(
        names=("azure",),
        hosts=("openai.azure.com", "services.ai.azure.com"),
        has_responses=True,
        ids=_SHORT,
    ),
    # Chat completions of xAI are deprecated, and cannot take encrypted reasoning back.
    Dialect(names=("xai",), hosts=("api.x.ai",), returns="never", has_responses=True),
    # A message with calls but without its reasoning is refused; other turns must come without it.
    Dialect(
        names=("deepseek",),
        hosts=("api.deepseek.com",),
        demands="reasoning_content",
        thinking="switch and effort",
    ),
    Dialect(
        names=("moonshot", "kimi"),
        hosts=("api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"),
        returns="always",
        demands="reasoning_content",
        thinking="switch",
    ),
    Dialect(
        names=("zai", "zhipu"), hosts=("api.z.ai", "open.bigmodel.cn"), returns="always", thinking="switch"
    ),
    Dialect(
        names=("openrouter",),
        hosts=("openrouter.ai",),
        returns="always",
        thinking="reasoning",
        fetches_files=True,
    ),
    Dialect(
        names=("mistral",),
        hosts=("api.mistral.ai",),
        returns="always",
        thinking="high",
        ids=CallIds("[a-zA-Z0-9]{9}", length=9),
    ),
    Dialect(names=("qwen", "dashscope"), hosts=("aliyuncs.com",), thinking="enable"),
    Dialect(names=("groq",), hosts=("api.groq.com",), thinking="groq"),
    Dialect(names=("vllm", "sglang", "llamacpp"), thinking="template"),
)
"""Servers that are not like the others."""

_PLAIN = Dialect()


def find_dialect(provider: str, base_url: str) -> Dialect:
    """Return the dialect of a server: by its address, or else by the provider's name."""
    host = urlsplit(base_url).hostname or ""
    for dialect in DIALECTS:
        if any(host == end or host.endswith(f".{end}") for end in dialect.hosts):
            return dialect
    return next((dialect for dialect in DIALECTS if provider in dialect.names), _PLAIN)
