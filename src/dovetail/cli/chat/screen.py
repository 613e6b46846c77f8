"""The screen of the chat: what is live and the input stay at the bottom, everything else scrolls away above.

Nothing uses the alternate screen: what was printed stays in the scrollback of the terminal. The screen is a
`Keyboard`, so questions are asked in place of the input.
"""

import asyncio
import io
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.input import create_input
from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, ConditionalContainer, Dimension, HSplit, Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.styles import Style

from dovetail.cli.chat.keys import bind_keys
from dovetail.cli.chat.look import Look, one_line
from dovetail.cli.chat.menu import MOST_ROWS, OpenQuestion, render_completions
from dovetail.cli.keyboard import NO_MENU, Menu
from dovetail.cli.output import guarded, open_styled
from dovetail.cli.terminal import shorten
from dovetail.data.text import cut
from dovetail.data.visible import show_on_line

_STYLE = Style.from_dict(
    {"status": "ansibrightblack", "chosen": "bold reverse", "ask": "bold", "hint": "italic"}
)
_FRAMES_PER_SECOND = 10
_ESCAPE_SECONDS, _SEQUENCE_SECONDS = 0.05, 0.5
"""How long Escape, and the first key of a sequence such as Ctrl-X Ctrl-E, wait for what may follow them."""
PAUSE = 0.7
"""Seconds without a key until a question that comes by itself takes the keys."""


class _CleanOutput(Vt100_Output):
    """A terminal in which no text, wherever it comes from, is a sequence that steers it."""

    def write(self, data: str) -> None:
        moves_on = not data.strip("\r\n")  # to the next line, as the renderer itself does
        super().write(data if moves_on else show_on_line(data))


class _Above(io.StringIO):
    """A file whose text appears above the live part of the screen."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._show = show

    def flush(self) -> None:
        text = self.getvalue()
        if text:
            self.seek(0)
            self.truncate()
            self._show(text)


class Screen:
    """The terminal of a chat, while it is `open`."""

    def __init__(
        self,
        look: Look,
        *,
        completer: Completer | None = None,
        history: History | None = None,
        pause: float = PAUSE,
    ) -> None:
        self.look = look
        self.console = look.open_console(_Above(self._print))
        self.live: Callable[[int, int], str] = lambda width, height: ""
        """Returns the lines that change, for a width and a number of rows."""
        self.status: Callable[[], str] = lambda: ""
        self.on_stop: Callable[[], None] | None = None
        """Stops the answer in progress, if there is one."""
        self._live_text = ""
        self._is_leaving = False
        self.is_interrupted = False
        """Whether the chat was left with Ctrl-C."""
        self.shown_question: OpenQuestion | None = None
        self.pause = pause
        self._key = asyncio.Event()  # a key was pressed
        self.lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._asking = asyncio.Lock()
        self.buffer = Buffer(
            completer=completer,
            complete_while_typing=Condition(lambda: self.question is None),
            history=history,
            multiline=True,
            tempfile_suffix=".md",
        )
        self.buffer.on_text_changed += self._stay
        self.app = self._build()
        self.app.key_processor.before_key_press += self._note_key
        self.app.key_processor.after_key_press += self._choose_wait
        self.console.width = self.width

    def _stay(self, buffer: Buffer) -> None:
        self._is_leaving = False

    def _note_key(self, sender: object) -> None:
        self._key.set()

    def _choose_wait(self, sender: object) -> None:
        """Take Escape at once: what belongs to it came with it, and a key after it is a key of its own."""
        pending = self.app.key_processor.key_buffer
        is_escape = bool(pending) and pending[0].key == Keys.Escape
        self.app.timeoutlen = 0 if is_escape else _SEQUENCE_SECONDS

    def _build(self) -> Application[None]:
        output = _CleanOutput.from_pty(open_styled(sys.stdout))
        output.enable_cpr = False  # the place on the screen need not be known: less to wait for
        parts = [
            _shown_if(self._render_live),
            Window(height=1),
            _shown_if(self._render_question),
            Window(
                BufferControl(self.buffer, input_processors=[BeforeInput(self._render_prompt)]),
                height=lambda: Dimension(min=1, max=MOST_ROWS),
                wrap_lines=True,
                dont_extend_height=True,
            ),
            _shown_if(self._render_completions),
            Window(FormattedTextControl(self._render_status), height=1, style="class:status"),
        ]
        app = Application[None](
            layout=Layout(HSplit(parts)),
            key_bindings=bind_keys(self),
            style=_STYLE,
            color_depth=None if self.look.has_colors else ColorDepth.DEPTH_1_BIT,
            erase_when_done=True,
            min_redraw_interval=1 / 30,
            before_render=self._draw_live,
            input=create_input(always_prefer_tty=True),
            output=output,
        )
        app.ttimeoutlen, app.timeoutlen = _ESCAPE_SECONDS, _SEQUENCE_SECONDS
        return app

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Show the screen; the keyboard belongs to it until it is left."""
        running = asyncio.create_task(self.app.run_async(handle_sigint=True))
        running.add_done_callback(lambda _: self.leave())  # the terminal may be closed
        ticking = asyncio.create_task(self._tick())
        try:
            with patch_stdout(raw=True), guarded():  # what tools and logs print must not tear the screen
                yield
        finally:
            ticking.cancel()
            if self.app.is_running:
                self.app.exit()
            await asyncio.gather(running, ticking, return_exceptions=True)

    def keep_early_keys(self) -> None:
        """Send the lines that were typed before the screen is open: there Enter has become a new line."""
        with self.app.input.raw_mode():
            early = self.app.input.read_keys()
        enter = KeyPress(Keys.Enter, "\r")
        store_typeahead(self.app.input, [enter if key.key == Keys.ControlJ else key for key in early])

    @property
    def question(self) -> OpenQuestion | None:
        """The question that takes the keys, if any."""
        shown = self.shown_question
        return shown if shown is not None and shown.takes_keys else None

    @property
    def is_busy(self) -> bool:
        """Whether an answer is in progress."""
        return self.on_stop is not None

    @property
    def width(self) -> int:
        """The columns of the terminal."""
        return self.app.output.get_size().columns

    async def read_line(self) -> str | None:
        """Return the next line that was typed; None if the chat is left."""
        return await self.lines.get()

    async def ask(self, prompt: str, menu: Menu = NO_MENU, *, text: str = "") -> str | None:
        """Ask in place of the input, which comes back afterwards."""
        async with self._asking:
            question = OpenQuestion(prompt, menu, asyncio.get_running_loop().create_future())
            self.shown_question = question
            try:
                if menu.comes_by_itself:
                    await self._wait_for_pause(question)
                line = await self._take_answer(question, text)
            finally:
                self.shown_question = None
                self.app.invalidate()
            return line

    async def _wait_for_pause(self, question: OpenQuestion) -> None:
        """Leave the keys to the input until none was pressed for a while; mark nothing if any was."""
        question.takes_keys, is_typing = False, bool(self.buffer.text)
        self.app.invalidate()
        self._key.set()
        while self._key.is_set():
            self._key.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._key.wait(), self.pause)
            is_typing = is_typing or self._key.is_set()
        question.takes_keys = True
        question.place = None if is_typing else 0

    async def _take_answer(self, question: OpenQuestion, text: str) -> str | None:
        kept = self.buffer.document
        self.fill(text)
        try:
            line = await question.answer
            self._note_answer(question, line)
            return line
        finally:
            self.buffer.document = kept

    def _note_answer(self, question: OpenQuestion, line: str | None) -> None:
        """Leave the question and its answer in the scrollback."""
        labels = {item.answer: item.label for item in question.menu.items}
        words = [labels.get(word, word) for word in (line or "").split(",")] if labels else [line or ""]
        unanswered = "(declined)" if question.menu.escape == "declines" else "(skipped)"
        shown = shorten(", ".join(words)) or unanswered
        self.console.print(one_line(("? ", "ask"), f"{shorten(question.prompt)} ", (shown, "bold")))

    def fill(self, text: str) -> None:
        """Put a text into the input, to be edited."""
        self.buffer.cancel_completion()
        self.buffer.document = Document(text)
        self.app.invalidate()

    def leave(self) -> None:
        """End the chat, as the end of the input does."""
        self.lines.put_nowait(None)

    def stop(self) -> None:
        """Stop the answer in progress, if any."""
        if self.on_stop is not None:
            self.on_stop()

    def interrupt(self) -> None:
        """Stop the answer, clear the input, or leave if it is pressed once more."""
        if self.on_stop is not None and not self._is_leaving:
            self.stop()
        elif self.buffer.text and not self._is_leaving:
            self.buffer.reset()
        elif self._is_leaving:
            self.is_interrupted = True
            self.leave()
        self._is_leaving = True

    def submit(self) -> None:
        """Send what was typed: as an answer, or as the next line."""
        text = self.buffer.text
        if self.question is not None:
            if (line := self.question.read(text)) is not None:
                self.question.finish(line)
        elif text.strip():
            self.buffer.append_to_history()
            self.buffer.reset()
            self.lines.put_nowait(text)

    def _print(self, text: str) -> None:
        """Print above the live part."""
        if self.app.is_running:
            self.app.renderer.erase(leave_alternate_screen=False)
        self.app.output.write_raw(text)
        self.app.output.flush()
        self.app.invalidate()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(1 / _FRAMES_PER_SECOND)
            if self.is_busy:
                self.app.invalidate()

    def _draw_live(self, app: Application[None]) -> None:
        """Draw what is live, once for each picture."""
        size = app.output.get_size()
        self.console.width = size.columns  # whatever the variable COLUMNS says
        self._live_text = self.live(size.columns, max(size.rows - MOST_ROWS, 3))

    def _render_live(self) -> ANSI | None:
        return ANSI(self._live_text) if self._live_text else None

    def _render_prompt(self) -> StyleAndTextTuples:
        return [("class:ask", "? " if self.question is not None else "> ")]

    def _render_question(self) -> StyleAndTextTuples | None:
        question = self.shown_question
        return None if question is None else question.render(self.buffer.text if question.takes_keys else "")

    def _render_completions(self) -> StyleAndTextTuples | None:
        state = self.buffer.complete_state
        if state is None or not state.completions or self.question is not None:
            return None
        return render_completions(state.completions, state.complete_index or 0)

    def _render_status(self) -> str:
        shown = self.status()
        if self._is_leaving:
            shown = "Press Ctrl-C again to leave."
        elif self.on_stop is not None and self.question is None:
            shown = "Enter: add to this answer · /queue: ask afterwards"
        return cut(f"  {show_on_line(shown)}", self.width - 2)


def _shown_if(render: Callable[[], ANSI | StyleAndTextTuples | None]) -> ConditionalContainer:
    """Return a window of a text that is there only if the text is."""
    return ConditionalContainer(
        Window(FormattedTextControl(lambda: render() or ""), dont_extend_height=True, wrap_lines=True),
        filter=Condition(lambda: render() is not None),
    )
