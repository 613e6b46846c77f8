"""What an answer shows while it is written."""

from types import SimpleNamespace
from typing import Any

import pytest
from rich.text import Text

from dovetail import Dovetail
from dovetail.cli.chat.answer import AnswerView
from dovetail.cli.chat.look import Look
from dovetail.cli.chat.screen import Screen
from dovetail.cli.task_view import TaskView
from dovetail.events.model_events import ToolInputEnd, ToolInputStart
from dovetail.events.run_events import Entry, Event, ToolStart


def test_the_seconds_of_a_call_begin_when_it_starts_and_not_with_its_approval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SimpleNamespace(monotonic=lambda: now)
    monkeypatch.setattr("dovetail.cli.chat.answer.time", clock)
    now = 100.0
    screen = Screen(Look("plain"))
    view = AnswerView(screen, TaskView(Dovetail(), screen.console, screen))
    events: list[Any] = [ToolInputStart("call_1", "saw"), ToolInputEnd("call_1", "saw", {"wood": "oak"})]
    for event in events:
        view.take(make_entry(event))
    now = 111.0
    view.take(make_entry(ToolStart("call_1", "execute", "Saw")))
    now = 113.0
    assert "saw 2 s oak" in Text.from_ansi(view.render(80, 24)).plain


def make_entry(event: Event) -> Entry:
    return Entry(1, "run_1", ("run_1",), 0.0, event)
