"""Read one JSON document as it arrives, each character once.

JSON5 is accepted too, and common mistakes of models: missing commas, Python literals, text without quotes,
text in triple quotes.
"""

import re
from collections.abc import Collection
from typing import Any

from dovetail.data.clean import DEEPEST
from dovetail.data.paths import PathStyle
from dovetail.response.field_event import FieldEvent, Frame
from dovetail.response.json_scalars import STOPS, read_piece
from dovetail.response.json_scanner import Scanner, State, match_word

_match_bare_key = re.compile(r"[\w$.-]+").match


class JsonReader(Scanner):
    """The states of one document, from its opening bracket on.

    It is strict until the document counts: an object from its first top-level key that is in `keys` (any key
    if `keys` is empty), an array from its first value. Reading ends where it is nested too deeply.
    """

    __slots__ = ("_depth", "_keys", "is_too_deep")

    def __init__(self, opening: str, keys: Collection[str] = (), style: PathStyle = "dot") -> None:
        super().__init__({} if opening == "{" else [], style)
        self._state = self._key_start if opening == "{" else self._first_item
        self._keys = keys
        self._depth = 1
        self.is_too_deep = False

    def finish(self) -> list[FieldEvent]:
        """Complete the values that the end of the text leaves open."""
        self._events = []
        if self.text is not None:
            self._end_string()
        elif self._state == self._in_word or self._state == self._in_bare_text:
            self._end_cut_word()
        elif self._carry[:1] in {'"', "'"}:
            self._complete("")
        self._carry = ""
        while self.frame.parent is not None:
            self._pop()
        self._state = self._ended
        return self._events

    def _first_item(self, text: str, position: int) -> int:
        char = text[position]
        if char.isspace() or char == "/":
            return self._skip(text, position)
        if char in "\"'{[]":
            self.strict = False
        self._state = self._item
        return position

    def _item(self, text: str, position: int) -> int:
        self.key = len(self.frame.container)
        return self._value(text, position)

    def _value(self, text: str, position: int) -> int:
        char = text[position]
        if char == " ":
            return position + 1
        if char == '"' or char == "'":
            return self._open_string(text, position, char)
        if char == "{":
            return self._open(text, position, {}, self._key_start)
        if char == "[":
            return self._open(text, position, [], self._item)
        if match_word(text, position):
            self._state = self._in_word
            return position
        return self._no_value(text, position, char)

    def _no_value(self, text: str, position: int, char: str) -> int:
        if char == "]" or char == "}":
            return self._close(text, position)
        if char == "," and not self.strict:
            self._state = self._next_state()
            return position + 1
        return self._skip(text, position)

    def _after(self, text: str, position: int) -> int:
        char = text[position]
        if char == ",":
            self._state = self._next_state()
            return position + 1
        if char == "}" or char == "]":
            return self._close(text, position)
        if char == '"' or char == "'" or (not self.strict and not char.isspace() and char != "/"):
            self._state = self._next_state()  # a comma was forgotten
            return position
        return self._skip(text, position)

    def _next_state(self) -> State:
        return self._item if self.frame.container.__class__ is list else self._key_start

    def _key_start(self, text: str, position: int) -> int:
        char = text[position]
        if char == " ":
            return position + 1
        if char == '"' or char == "'":
            self._quotes = char
            self._stops = STOPS[char]
            self._state = self._in_key
            return position + 1
        if char == "}" or char == "]":
            return self._close(text, position)
        if _match_bare_key(text, position):
            self._state = self._in_bare_key
            return position
        return self._skip(text, position)

    def _in_key(self, text: str, position: int) -> int:
        stop = self._stops(text, position)
        if stop is None:
            self._word.append(text[position:])
            return len(text)
        end = stop.start()
        if text[end] != self._quotes:
            return self._in_escaped_key(text, position)
        self._word.append(text[position:end])
        self._end_key()
        return end + 1

    def _in_escaped_key(self, text: str, position: int) -> int:
        said, position, is_closed = read_piece(text, position, self._quotes)
        self._word.append(said)
        if not is_closed:
            return self._keep(text, position)
        self._end_key()
        return position

    def _in_bare_key(self, text: str, position: int) -> int:
        key = _match_bare_key(text, position)
        end = key.end() if key else position
        self._word.append(text[position:end])
        if end < len(text):
            self._end_key()
        return end

    def _end_key(self) -> None:
        self.key = "".join(self._word)
        self._word.clear()
        self._state = self._colon

    def _colon(self, text: str, position: int) -> int:
        char = text[position]
        if char == ":":
            if self.strict and self.frame.parent is None and (not self._keys or self.key in self._keys):
                self.strict = False
            self._state = self._value
            return position + 1
        if self.strict or char.isspace() or char == "/":
            return self._skip(text, position)
        self._state = self._value  # a colon was forgotten
        return position

    def _open(self, text: str, position: int, container: Any, state: State) -> int:
        if self._depth == DEEPEST:
            self.is_too_deep = True
            self._state = self._ended
            return len(text)
        self._depth += 1
        frame = self.frame
        frame.put(self.key, container)
        self.frame = Frame(self, frame, self.key, container)
        self._state = state
        return position + 1

    def _close(self, text: str, position: int) -> int:
        kind = dict if text[position] == "}" else list
        frame = self.frame
        if frame.container.__class__ is not kind:
            parent = frame.parent
            if self.strict or parent is None or parent.container.__class__ is not kind:
                return self._break(text, position)
            self._pop()  # its own bracket was forgotten
        if self.frame.parent is None:
            return self._stop(text, position + 1)
        self._pop()
        return position + 1

    def _pop(self) -> None:
        frame = self.frame
        if frame.parent is not None:
            self.frame = frame.parent
            self._depth -= 1
            self._events.append(FieldEvent(frame.parent, frame.key, frame.container))
            self._state = self._after
