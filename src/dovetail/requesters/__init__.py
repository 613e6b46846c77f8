"""Model APIs: a request in, deltas out; one package or module per API."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.requesters.fallback import FallbackRequester
    from dovetail.requesters.http.endpoint import Endpoint
    from dovetail.requesters.langchain import LangchainRequester
    from dovetail.requesters.openai.requester import OpenAIRequester
    from dovetail.requesters.requester import Requester

__all__ = ["Endpoint", "FallbackRequester", "LangchainRequester", "OpenAIRequester", "Requester"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Endpoint": "dovetail.requesters.http.endpoint",
        "FallbackRequester": "dovetail.requesters.fallback",
        "LangchainRequester": "dovetail.requesters.langchain",
        "OpenAIRequester": "dovetail.requesters.openai.requester",
        "Requester": "dovetail.requesters.requester",
    },
)
