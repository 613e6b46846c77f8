"""What is asked, where it stands, and how a reader gets there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from evals.reality.outcome import Check

Face: TypeAlias = Literal["program", "page", "terminal", "http"]


@dataclass(frozen=True, slots=True)
class SetUp:
    """Prepares an empty folder; `made_from` are the files and texts that its content comes from."""

    prepare: Callable[[Path], None] = lambda folder: None
    made_from: Sequence[Path | str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing that a place shows, with its checks.

    `text` is what stands there. `send` is what is typed instead if that differs, such as a prompt of the
    library with its variables filled in.
    """

    text: str
    checks: Sequence[Check]
    send: str = ""
    words: Sequence[str] = ()
    """The command line after `dovetail`; by default `chat -p` and the text."""
    typed: str = ""
    """What is typed while a program runs, or piped into a command."""
    approve: Sequence[str] = ()
    """Tools whose calls the reader allows."""
    browser: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the page returns for a tool that runs there."""
    agent: str | None = None
    reads_json: bool = False
    """The place shows a request for JSON, so no run reads the stream."""
    follows: bool = False
    """The question belongs to the chat of the one before."""
    wait_for_tasks: bool = False
    """What works in the background must end before the outcome is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A place with its questions, which are asked one after the other in one folder."""

    place: str
    """The file that shows the questions, from the root of the repository."""
    face: Face
    questions: Sequence[Question]
    set_up: SetUp = SetUp()
    program: str = ""
    """A file to run instead of the blocks of a page."""
    seconds: float = 240
    """The most that one question may take."""
    note: str = ""
    """What distinguishes two visits of one place and face."""

    @property
    def name(self) -> str:
        """The place, the face and the note."""
        return " ".join(filter(None, (self.place, self.face, self.note)))
