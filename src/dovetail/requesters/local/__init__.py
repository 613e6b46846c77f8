"""The embedded models: weights, download, the engine, and requests for small models."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.requesters.local.requester import LocalRequester

__all__ = ["LocalRequester"]

__getattr__ = lazy_exports(__name__, {"LocalRequester": "dovetail.requesters.local.requester"})
