"""Models that play a script, without a network or over HTTP, for users' tests and ours."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.requesters.script.gate import Gate
    from dovetail.requesters.script.reply import Break, Reply
    from dovetail.requesters.scripted import ScriptedRequester
    from dovetail.testing.server import ScriptedServer

__all__ = ["Break", "Gate", "Reply", "ScriptedRequester", "ScriptedServer"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Break": "dovetail.requesters.script.reply",
        "Gate": "dovetail.requesters.script.gate",
        "Reply": "dovetail.requesters.script.reply",
        "ScriptedRequester": "dovetail.requesters.scripted",
        "ScriptedServer": "dovetail.testing.server",
    },
)
