"""Stores of chat sessions: in memory, or in a folder that survives the process."""

import json
import os
import tempfile
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from dovetail.data.clean import clean_texts
from dovetail.errors import ConfigError
from dovetail.events.call import ChatMessage


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
