"""Places where a scripted reply stands still until somebody lets it go on."""

import asyncio
import threading


class Signal:
    """A flag that can be set from any thread and awaited on any event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def set(self) -> None:
        """Wake everybody who waits, now and later."""
        with self._lock:
            self._event.set()
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    def is_set(self) -> bool:
        """Whether it was set."""
        return self._event.is_set()

    def wait(self, timeout: float = 5.0) -> bool:
        """Wait in a thread; False when the time is over."""
        return self._event.wait(timeout)

    async def async_wait(self) -> None:
        """Wait on the running event loop; the caller sets the time limit."""
        event = asyncio.Event()
        with self._lock:
            if self._event.is_set():
                return
            self._waiting.append((asyncio.get_running_loop(), event))
        await event.wait()


class Gate:
    """A step of a reply: the reply says that it is here (`reached`) and goes on when it is `opened`."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.reached = Signal()
        self.opened = Signal()

    def open(self) -> None:
        """Let the reply go on."""
        self.opened.set()

    async def pass_through(self) -> None:
        """Say that the reply got here, then wait until the gate is open."""
        self.reached.set()
        await self.opened.async_wait()

    def __repr__(self) -> str:
        return f"Gate({self.name!r})"
