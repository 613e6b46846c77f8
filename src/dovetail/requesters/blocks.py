"""Conversations as blocks of content in messages of alternating roles, for Anthropic and Bedrock."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeAlias

from dovetail.events.call import ChatMessage
from dovetail.requesters.content import dump, is_parts
from dovetail.requesters.parts import CallPiece, OwnPiece, TextPiece, arrange

Block: TypeAlias = dict[str, Any]
"""A block of content, such as `{"text": "Hello"}`."""

FORGOTTEN = "It is no longer available."
"""The description of a tool that was called before and is not offered any more."""

_START = "(The conversation continues.)"


class BlockWriter(ABC):
    """Writer of one conversation: its `system` prompt, and its `messages`.

    `source` names the parts that go back to the API. Without `thinks`, earlier thinking is left out.
    """

    def __init__(self, source: str, *, thinks: bool = True) -> None:
        self.system: list[Block] = []
        self.messages: list[dict[str, Any]] = []
        self._source = source
        self._thinks = thinks

    def write(self, messages: Sequence[ChatMessage]) -> Self:
        """Write the messages and return itself; none of them is empty, and the first one is the user's."""
        for message in messages:
            role = message["role"]
            if role in ("system", "developer"):
                blocks = self.write_content(message.get("content"))
                self.system += [block for block in drop_empty(blocks) if "text" in block]
            elif role == "assistant":
                self._add("assistant", self._write_answer(message))
            elif role == "tool":
                self._add("user", [self._write_result(message)])
            else:
                self._add("user", self.write_content(message.get("content")))
        self._complete()
        return self

    def check_part(self, part: Mapping[str, Any]) -> None:
        """Check that the API takes a part of a message: raise a ConfigError otherwise."""
        self._write_part(part)

    def write_content(self, content: Any) -> list[Block]:
        """Return the blocks of a content: a text, a list of parts, or any data, which becomes text."""
        if content is None:
            return []
        if is_parts(content):
            return [self._write_part(part) for part in content]
        return [self._write_text(content if isinstance(content, str) else dump(content))]

    @property
    def called_tools(self) -> list[str]:
        """The names of the tools that were called, each once."""
        names = (self._find_call(block) for message in self.messages for block in message["content"])
        return list(dict.fromkeys(filter(None, names)))

    @property
    def lacks_thinking(self) -> bool:
        """Whether the tool calls in progress began without thinking, as after a change of the model.

        Claude rejects thinking with a budget in the middle of such a turn; it can begin with the next one.
        """
        turn = list(self._list_turn())
        answers = [message for message in turn if message["role"] == "assistant"]
        if not answers or len(answers) == len(turn):
            return False
        return not self._is_thinking(answers[-1]["content"][0])

    def _list_turn(self) -> Iterator[Mapping[str, Any]]:
        """Yield the answers and the results since the user's last question, the newest first."""
        for message in reversed(self.messages):
            if message["role"] == "user" and not any(map(self._is_result, message["content"])):
                return
            yield message

    def _add(self, role: str, blocks: Iterable[Block]) -> None:
        """Append blocks to the last message if it has this role, else to a new one."""
        filled = drop_empty(blocks)
        if not filled:
            return
        if self.messages and self.messages[-1]["role"] == role:
            self.messages[-1]["content"].extend(filled)
        else:
            self.messages.append({"role": role, "content": filled})

    def _complete(self) -> None:
        if not self.messages:  # a request needs more than a system prompt
            self._add("user", self.system or [self._write_text(_START)])
            self.system = []
        elif self.messages[0]["role"] == "assistant":
            self.messages.insert(0, {"role": "user", "content": [self._write_text(_START)]})
        last = self.messages[-1]
        if last["role"] == "assistant" and "text" in last["content"][-1]:
            last["content"][-1] = {**last["content"][-1], "text": last["content"][-1]["text"].rstrip()}

    def _write_answer(self, message: ChatMessage) -> list[Block]:
        """Return the blocks of an assistant's message, in the order in which they came."""
        blocks: list[Block] = []
        for piece in arrange(message, self._source):
            if isinstance(piece, TextPiece):
                blocks.append(self._write_text(piece.text))
            elif isinstance(piece, CallPiece):
                blocks.append(self._write_call(piece))
            else:
                self._add_own(piece, blocks)
        blocks = self._strip_thinking(blocks)
        return blocks if self._thinks else [block for block in blocks if not self._is_thinking(block)]

    def _strip_thinking(self, blocks: list[Block]) -> list[Block]:
        """Return the blocks without thinking that leads to nothing, as in an interrupted answer."""
        while blocks and self._is_thinking(blocks[-1]):
            blocks = blocks[:-1]
        return blocks

    @abstractmethod
    def _write_text(self, text: str) -> Block: ...

    @abstractmethod
    def _write_part(self, part: Mapping[str, Any]) -> Block:
        """Return a part of a content as a block; blocks of the API itself stay as they are."""

    @abstractmethod
    def _write_call(self, piece: CallPiece) -> Block: ...

    @abstractmethod
    def _write_result(self, message: ChatMessage) -> Block:
        """Return the result of a call as a block."""

    @abstractmethod
    def _add_own(self, piece: OwnPiece, blocks: list[Block]) -> None:
        """Add a part of the provider's to the blocks before it."""

    @abstractmethod
    def _is_thinking(self, block: Block) -> bool: ...

    @abstractmethod
    def _is_result(self, block: Block) -> bool: ...

    @abstractmethod
    def _find_call(self, block: Block) -> str | None:
        """Return the name of the tool that a block calls, if any."""


def drop_empty(blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks without empty texts, which the APIs reject."""
    return [block for block in blocks if "text" not in block or str(block["text"] or "").strip()]
