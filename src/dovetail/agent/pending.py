"""Requests that are being written, kept apart: one for each task, or thread where no task runs."""

import asyncio
import threading
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from dovetail.prompt.prompt import Prompt


@dataclass(slots=True)
class PendingRequest:
    """A request that is being written."""

    prompt: Prompt


class PendingRequests:
    """The unsent requests of one agent, each seen only where it is written.

    So an agent can be used by many threads and tasks at once. What was written before the event loop
    started is taken up by the first task that goes on with it.
    """

    def __init__(self, parent: Prompt) -> None:
        self._parent = parent
        self._requests: WeakKeyDictionary[Any, PendingRequest] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self) -> PendingRequest:
        """The request that is being written here."""
        owner = _find_owner()
        with self._lock:
            request = self._requests[owner] = self._pop(owner)
            return request

    def take(self) -> PendingRequest:
        """The request that was written here; the next one begins empty."""
        owner = _find_owner()
        with self._lock:
            return self._pop(owner)

    def _pop(self, owner: Any) -> PendingRequest:
        request = self._requests.pop(owner, None)
        if request is None:
            request = self._requests.pop(threading.current_thread(), None)
        return request or PendingRequest(Prompt(parent=self._parent))


def _find_owner() -> Any:
    try:
        return asyncio.current_task() or threading.current_thread()
    except RuntimeError:
        return threading.current_thread()
