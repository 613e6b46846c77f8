"""Requests that are being written, kept apart: one for each task, or thread where no task runs."""

import asyncio
import threading
from typing import Any
from weakref import WeakKeyDictionary

from dovetail.prompt.prompt import Prompt


class PendingRequests:
    """The request prompts of one agent, each seen only where it is written.

    So an agent can be used by many threads and tasks at once. What was written before the event loop
    started is taken up by the first task that goes on with it.
    """

    def __init__(self, parent: Prompt) -> None:
        self._parent = parent
        self._prompts: WeakKeyDictionary[Any, Prompt] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self) -> Prompt:
        """The prompt that is being written here."""
        owner = _find_owner()
        with self._lock:
            prompt = self._adopt(owner) or Prompt(parent=self._parent)
            self._prompts[owner] = prompt
            return prompt

    def take(self) -> Prompt:
        """The prompt that was written here; the next one begins empty."""
        owner = _find_owner()
        with self._lock:
            return self._adopt(owner) or Prompt(parent=self._parent)

    def _adopt(self, owner: Any) -> Prompt | None:
        own = self._prompts.pop(owner, None)
        return own if own is not None else self._prompts.pop(threading.current_thread(), None)


def _find_owner() -> Any:
    try:
        return asyncio.current_task() or threading.current_thread()
    except RuntimeError:
        return threading.current_thread()
