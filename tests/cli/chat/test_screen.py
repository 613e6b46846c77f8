"""The screen of the chat on a pseudo terminal of its own, without a conversation."""

import asyncio
import fcntl
import os
import pty
import struct
import termios
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pyte
import pytest

from dovetail.cli.chat.look import Look
from dovetail.cli.chat.screen import Screen
from dovetail.cli.keyboard import Menu, MenuItem
from patience import PATIENCE

COLUMNS, ROWS, HOUR = 80, 24, 3600
MENU = Menu(items=[MenuItem("y", "Yes", word="yes"), MenuItem("n", "No", word="no")], comes_by_itself=True)


class Desk:
    """A screen, the keys that are typed, and what is to be seen."""

    def __init__(self, screen: Screen, keys: int) -> None:
        self.screen = screen
        self._keys = keys
        self._shown = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._shown)
        self._changed = asyncio.Event()

    def type(self, text: str) -> None:
        os.write(self._keys, text.encode())

    def read(self) -> None:
        self._stream.feed(os.read(self._keys, 65536))
        self._changed.set()

    async def wait_for(self, text: str) -> str:
        while text not in (shown := "\n".join(line.rstrip() for line in self._shown.display)):
            self._changed.clear()
            await self._changed.wait()
        return shown


@asynccontextmanager
async def open_desk(
    monkeypatch: pytest.MonkeyPatch, pause: float = 0, early: str = ""
) -> AsyncGenerator[Desk]:
    keys, inner = pty.openpty()
    os.write(keys, early.encode())
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    loop = asyncio.get_running_loop()
    with open(inner, "w") as terminal:  # noqa: ASYNC230
        monkeypatch.setattr("sys.stdin", terminal)
        monkeypatch.setattr("sys.stdout", terminal)
        desk = Desk(Screen(Look("plain"), pause=pause), keys)
        loop.add_reader(keys, desk.read)
        desk.screen.keep_early_keys()
        try:
            async with asyncio.timeout(PATIENCE), desk.screen.open():
                yield desk
        finally:
            loop.remove_reader(keys)
            os.close(keys)


async def test_keys_typed_before_a_person_could_read_the_menu_go_to_the_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_desk(monkeypatch, pause=HOUR) as desk:
        asking = asyncio.create_task(desk.screen.ask("Allow this call?", MENU))
        shown = await desk.wait_for("Keys go to your message until you pause.")
        assert "  1. Yes (y)\n  2. No (n)\n" in shown
        desk.type("1 more\r\ry\r")
        assert [await desk.screen.read_line(), await desk.screen.read_line()] == ["1 more", "y"]
        assert not asking.done()
        desk.screen.pause = 0
        desk.type("x\x7f")
        assert "▸" not in await desk.wait_for("then Enter, Esc skips")
        desk.type("\r2\r")  # Enter alone chooses nothing
        assert await asking == "n"


async def test_menu_takes_keys_after_a_pause_and_a_number_needs_enter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_desk(monkeypatch) as desk:
        asking = asyncio.create_task(desk.screen.ask("Allow this call?", MENU))
        await desk.wait_for("▸ 1. Yes (y)")
        desk.type("2")
        await desk.wait_for("▸ 2. No (n)")
        desk.type("\x7f")
        await desk.wait_for("▸ 1. Yes (y)")
        desk.type("No")
        await desk.wait_for("▸ 2. No (n)")
        assert not asking.done()
        desk.type("\r")
        assert await asking == "No"


async def test_escape_acts_at_once_and_leaves_the_next_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.cli.chat.screen._SEQUENCE_SECONDS", HOUR)
    async with open_desk(monkeypatch) as desk:
        asking = asyncio.create_task(desk.screen.ask("Allow this call?", MENU))
        await desk.wait_for("▸ 1. Yes (y)")
        desk.type("\x1b")
        assert await asking == ""
        desk.type("/agent\x1b\rx\r")  # Alt+Enter is still one key
        assert await desk.screen.read_line() == "/agent\nx"


async def test_lines_typed_before_the_screen_is_there_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_desk(monkeypatch, early="oak\rash\rel") as desk:
        assert [await desk.screen.read_line(), await desk.screen.read_line()] == ["oak", "ash"]
        await desk.wait_for("> el")
        desk.type("m\r")
        assert await desk.screen.read_line() == "elm"
