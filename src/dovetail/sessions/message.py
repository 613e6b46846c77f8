"""One message of a conversation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from dovetail.messages.request import ChatMessage

Role: TypeAlias = Literal["user", "assistant", "system"]
Part: TypeAlias = Mapping[str, Any]
"""A piece of a message as people see it, as the AI SDK has it (`text`, `reasoning`, `dynamic-tool`, …)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A node of the tree: `parts` is what people see, `content` what a model reads of it."""

    id: str
    parent_id: str | None = None
    role: Role = "user"
    parts: Sequence[Part] = ()
    content: Sequence[ChatMessage] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    created_at: float = 0.0

    @property
    def text(self) -> str:
        """The text of the message, without tools and reasoning."""
        return "\n\n".join(str(part.get("text", "")) for part in self.parts if part.get("type") == "text")
