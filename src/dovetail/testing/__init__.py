"""Models that play a script, without a network or over HTTP, for users' tests and ours."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.requesters.gate import Gate
    from dovetail.requesters.reply import Break, Reply
    from dovetail.requesters.scripted import ScriptedRequester
    from dovetail.testing.server import ScriptedServer

__all__ = ["Break", "Gate", "Reply", "ScriptedRequester", "ScriptedServer"]

_HOMES = {
    "Break": "dovetail.requesters.reply",
    "Gate": "dovetail.requesters.gate",
    "Reply": "dovetail.requesters.reply",
    "ScriptedRequester": "dovetail.requesters.scripted",
    "ScriptedServer": "dovetail.testing.server",
}


def __getattr__(name: str) -> Any:
    """Load a name at its first use: the server brings aiohttp along."""
    if name not in _HOMES:
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}; it exports: {', '.join(__all__)}"
        )
    return getattr(import_module(_HOMES[name]), name)
