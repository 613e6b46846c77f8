"""The keys of the chat's screen.

Enter sends, Alt+Enter (or a backslash and Enter) begins a new line. Esc stops an answer. Ctrl-C does too, it
clears the input, and leaves if it is pressed twice; Ctrl-D leaves. In a menu the arrow keys mark a choice,
and so does its number or its letter; Enter chooses, and Esc skips.
"""

from typing import Protocol

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.key_binding.bindings.open_in_editor import load_open_in_editor_bindings
from prompt_toolkit.key_binding.key_bindings import KeyBindingsBase
from prompt_toolkit.keys import Keys

from dovetail.cli.chat.menu import OpenQuestion
from dovetail.cli.keyboard import NO_MENU, Menu


class KeyTarget(Protocol):
    """What keys act on."""

    buffer: Buffer

    @property
    def question(self) -> OpenQuestion | None:
        """The question that takes the keys, if any."""
        ...

    @property
    def is_busy(self) -> bool:
        """Whether an answer is in progress."""
        ...

    def submit(self) -> None:
        """Send what was typed."""
        ...

    def interrupt(self) -> None:
        """Stop an answer; ask before leaving."""
        ...

    def stop(self) -> None:
        """Stop the answer in progress."""
        ...

    def leave(self) -> None:
        """End the chat."""
        ...


def bind_keys(target: KeyTarget) -> KeyBindingsBase:
    """Return the keys of a screen."""
    keys = KeyBindings()
    _bind_input(keys, target)
    _bind_menu(keys, target)
    _bind_leaving(keys, target)
    return merge_key_bindings([keys, load_open_in_editor_bindings()])


def _bind_input(keys: KeyBindings, target: KeyTarget) -> None:
    buffer = target.buffer

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        if buffer.complete_state is not None and not _is_finished(buffer):
            return
        if buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            target.submit()

    @keys.add("escape", "enter")
    @keys.add("c-j")
    def _(event: KeyPressEvent) -> None:
        buffer.newline(copy_margin=False)

    @keys.add("tab", filter=Condition(lambda: target.question is None))
    def _(event: KeyPressEvent) -> None:
        if buffer.complete_state is not None:
            buffer.complete_next()
        else:
            buffer.start_completion(select_first=True)


def _is_finished(buffer: Buffer) -> bool:
    """Take the completion that is marked; return whether the input can be sent as it is then.

    What was typed in full is sent; a command that may have more words is only completed.
    """
    state = buffer.complete_state
    if state is None or not state.completions:
        return True
    chosen = state.current_completion or state.completions[0]
    before = state.original_document.text
    buffer.apply_completion(chosen)
    if buffer.text.rstrip() == before.rstrip():
        return True
    return buffer.text.startswith("/") and not buffer.text.endswith(" ")


def _bind_menu(keys: KeyBindings, target: KeyTarget) -> None:
    def find_menu() -> Menu:
        return target.question.menu if target.question is not None else NO_MENU

    choosing = Condition(lambda: bool(find_menu().items) and " " not in target.buffer.text)
    several = Condition(lambda: find_menu().is_multiple and not target.buffer.text)

    def move(by: int) -> None:
        assert target.question is not None
        target.question.move(by, target.buffer.text)
        target.buffer.reset()  # a number or a letter: the pointer has moved on

    @keys.add("up", filter=choosing)
    def _(event: KeyPressEvent) -> None:
        move(-1)

    @keys.add("down", filter=choosing)
    @keys.add("tab", filter=choosing)
    def _(event: KeyPressEvent) -> None:
        move(1)

    @keys.add(" ", filter=choosing & several)
    def _(event: KeyPressEvent) -> None:
        assert target.question is not None
        target.question.toggle()


def _bind_leaving(keys: KeyBindings, target: KeyTarget) -> None:
    @keys.add("c-c")
    @keys.add(Keys.SIGINT)
    def _(event: KeyPressEvent) -> None:
        target.interrupt()

    @keys.add("escape", filter=Condition(lambda: target.question is not None))
    def _(event: KeyPressEvent) -> None:
        assert target.question is not None
        target.question.finish("")

    @keys.add(
        "escape",
        filter=Condition(lambda: target.question is None and target.buffer.complete_state is not None),
    )
    def _(event: KeyPressEvent) -> None:
        target.buffer.cancel_completion()

    @keys.add("escape", filter=Condition(lambda: target.is_busy and target.question is None))
    def _(event: KeyPressEvent) -> None:
        target.stop()

    @keys.add("c-d", filter=Condition(lambda: not target.buffer.text))
    def _(event: KeyPressEvent) -> None:
        if target.question is not None:
            target.question.finish(None)
        else:
            target.leave()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()
