"""The fields of one answer, parsed once for all who read them."""

import threading

from dovetail.messages.delta import TextDelta
from dovetail.response.instant import Instant
from dovetail.response.log import Entry, Log
from dovetail.response.parser import InstantParser


class Fields:
    """Follows a log with a parser; `events` grows as far as somebody asks."""

    def __init__(self, log: Log[Entry], parser: InstantParser) -> None:
        self.events: list[Instant] = []
        self._log = log
        self._parser = parser
        self._position = 0
        self._lock = threading.Lock()

    def catch_up(self) -> int:
        """Parse what has arrived since; gives the number of entries that were read."""
        with self._lock:
            items = self._log.items
            while self._position < len(items):
                entry = items[self._position]
                if isinstance(entry, TextDelta):
                    self.events += self._parser.feed(entry.text)
                self._position += 1
            return self._position

    def finish(self) -> None:
        """The answer is over: complete what is open, once."""
        with self._lock:
            self.events += self._parser.finish()
