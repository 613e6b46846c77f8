"""For tests of users and our own: scripted models, and calls of extension folders."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.testing.folder import async_call_folder_tool, call_folder_tool
    from dovetail.testing.replies import Break, Gate, Reply
    from dovetail.testing.requester import ScriptedRequester
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
        "Break": "dovetail.testing.replies",
        "Gate": "dovetail.testing.replies",
        "Reply": "dovetail.testing.replies",
        "ScriptedRequester": "dovetail.testing.requester",
        "ScriptedServer": "dovetail.testing.server",
        "async_call_folder_tool": "dovetail.testing.folder",
        "call_folder_tool": "dovetail.testing.folder",
    },
)
