"""Stores of chat sessions: in memory, or in a folder that survives the process."""

import json
import os
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from dovetail.data.clean import clean_texts
from dovetail.data.shapes import is_mapping
from dovetail.errors import ConfigError
from dovetail.events.call import ChatMessage
from dovetail.loop.tokens import estimate_tokens

STORING = threading.RLock()
"""Held while messages are added to a stored session: agents, and stores of one folder, may share it."""


class ChatStore(Protocol):
    """Store the messages of chat sessions by id."""

    def load(self, session_id: str) -> list[ChatMessage]:
        """Return the messages of a session; none if it is new."""
        ...

    def save(self, session_id: str, messages: list[ChatMessage]) -> None:
        """Replace the messages of a session."""
        ...


class MemoryChatStore:
    """Store sessions for the lifetime of the process."""

    def __init__(self) -> None:
        self._sessions: dict[str, list[ChatMessage]] = {}

    def load(self, session_id: str) -> list[ChatMessage]:
        """Return the messages of a session; none if it is new."""
        return list(self._sessions.get(session_id, ()))

    def save(self, session_id: str, messages: list[ChatMessage]) -> None:
        """Replace the messages of a session."""
        self._sessions[session_id] = list(messages)


class FolderChatStore:
    """Store each session in a JSON file of its own; a crash leaves either the old or the new file intact.

    >>> store = FolderChatStore("chats")
    >>> store.save("ann", [{"role": "user", "content": "Hi."}])
    >>> store.load("ann")
    [{'role': 'user', 'content': 'Hi.'}]
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def load(self, session_id: str) -> list[ChatMessage]:
        """Return the messages of a session; none if it is new."""
        path = self._find(session_id)
        if not path.is_file():
            return []
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ConfigError(f"Cannot read chat session {session_id!r} from {path}: {error}") from error

    def save(self, session_id: str, messages: list[ChatMessage]) -> None:
        """Replace the messages of a session."""
        self._folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(clean_texts(messages), ensure_ascii=False, indent=1)
        handle, name = tempfile.mkstemp(dir=self._folder, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(self._find(session_id))

    def _find(self, session_id: str) -> Path:
        return self._folder / f"{quote(session_id, safe='')}.json"


def fit_history(history: Sequence[ChatMessage], budget: int | None) -> list[ChatMessage]:
    """Return the newest turns that fit into a number of tokens; each begins with a user message."""
    if budget is None:
        return list(history)
    begins = [place for place, message in enumerate(history) if _is_users(message)] or [0]
    for begin in [0, *begins[1:]]:
        if estimate_tokens(history[begin:]) <= budget:
            return list(history[begin:])
    return []


def _is_users(message: Any) -> bool:
    return not is_mapping(message) or message.get("role") in ("user", None)
