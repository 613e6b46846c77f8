"""For tests of users and our own: scripted and recorded models, and calls of extension folders."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.testing.cassette import Cassette, RecordedRequester
    from dovetail.testing.folder import async_call_folder_tool, call_folder_tool
    from dovetail.testing.replies import Break, Gate, Reply
    from dovetail.testing.requester import ScriptedRequester
    from dovetail.testing.server import ScriptedServer

__all__ = [
    "Break",
    "Cassette",
    "Gate",
    "RecordedRequester",
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
        "Cassette": "dovetail.testing.cassette",
        "Gate": "dovetail.testing.replies",
        "RecordedRequester": "dovetail.testing.cassette",
        "Reply": "dovetail.testing.replies",
        "ScriptedRequester": "dovetail.testing.requester",
        "ScriptedServer": "dovetail.testing.server",
        "async_call_folder_tool": "dovetail.testing.folder",
        "call_folder_tool": "dovetail.testing.folder",
    },
)
