"""HTTP in, event streams out."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.server.app import create_app

__all__ = ["create_app"]

__getattr__ = lazy_exports(__name__, {"create_app": "dovetail.server.app"})
