"""A line to stand in: one at a time, first come first served, from any thread and event loop."""

import asyncio
import threading
from collections import deque
from concurrent.futures import Future


class Ticket:
    """A place in a line; `leave` gives it up, at the front or anywhere else, once or more often."""

    def __init__(self, line: "Line") -> None:
        self.turn: Future[None] = Future()
        self._line = line

    def leave(self) -> None:
        """Let the next one go on."""
        self._line.remove(self)


class Line:
    """Hands out turns in the order in which they were asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tickets: deque[Ticket] = deque()

    async def take(self) -> Ticket:
        """Wait for the turn; who is cancelled while waiting leaves the line."""
        ticket = Ticket(self)
        with self._lock:
            self._tickets.append(ticket)
            is_first = len(self._tickets) == 1
        if is_first:
            return ticket
        try:
            await asyncio.wrap_future(ticket.turn)
        except BaseException:
            ticket.leave()
            raise
        return ticket

    def remove(self, ticket: Ticket) -> None:
        """Take a ticket out; when it was the first, the next one has its turn."""
        with self._lock:
            if ticket not in self._tickets:
                return
            was_first = self._tickets[0] is ticket
            self._tickets.remove(ticket)
            following = self._tickets[0] if was_first and self._tickets else None
        # A ticket whose waiter was just cancelled will leave by itself and pass the turn on.
        if following is not None and following.turn.set_running_or_notify_cancel():
            following.turn.set_result(None)

    def __len__(self) -> int:
        return len(self._tickets)
