"""For users' tests and ours: models that play a script, and calls of an extension folder's tools."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.requesters.script.gate import Gate
    from dovetail.requesters.script.reply import Break, Reply
    from dovetail.requesters.scripted import ScriptedRequester
    from dovetail.testing.folder import async_call_folder_tool, call_folder_tool
    from dovetail.testing.server import ScriptedServer

__all__ = [
    "Break",
    "Gate",
    "Reply",
    "ScriptedRequester",
    "ScriptedServer",
    "async_call_folder_tool",
    "call_folder_tool",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Break": "dovetail.requesters.script.reply",
        "Gate": "dovetail.requesters.script.gate",
        "Reply": "dovetail.requesters.script.reply",
        "ScriptedRequester": "dovetail.requesters.scripted",
        "ScriptedServer": "dovetail.testing.server",
        "async_call_folder_tool": "dovetail.testing.folder",
        "call_folder_tool": "dovetail.testing.folder",
    },
)
