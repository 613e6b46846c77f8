"""The embedded models: their weights on disk, the engine that runs them, and how a small model is asked."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.requesters.local.requester import LocalRequester

__all__ = ["LocalRequester"]

__getattr__ = lazy_exports(__name__, {"LocalRequester": "dovetail.requesters.local.requester"})
