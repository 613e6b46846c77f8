"""One module per model API: a request in, deltas out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.requesters.endpoint import Endpoint
    from dovetail.requesters.fallback import FallbackRequester
    from dovetail.requesters.langchain import LangchainRequester
    from dovetail.requesters.openai import OpenAIRequester
    from dovetail.requesters.requester import Requester

__all__ = ["Endpoint", "FallbackRequester", "LangchainRequester", "OpenAIRequester", "Requester"]

_HOMES = {
    "Endpoint": "dovetail.requesters.endpoint",
    "FallbackRequester": "dovetail.requesters.fallback",
    "LangchainRequester": "dovetail.requesters.langchain",
    "OpenAIRequester": "dovetail.requesters.openai",
    "Requester": "dovetail.requesters.requester",
}


def __getattr__(name: str) -> Any:
    """Load a name at its first use."""
    if name not in _HOMES:
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}; it exports: {', '.join(__all__)}"
        )
    return getattr(import_module(_HOMES[name]), name)
