"""A running agent in the terminal: a tree that lives, or one line for each event, and questions."""

import asyncio
import io
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from dovetail.cli.output import Console
from dovetail.cli.run_view import AgentTree, AgentView, describe_usage
from dovetail.events.delta import Usage
from dovetail.events.model_events import ModelProgress, TextDeltaEvent, ToolInputEnd
from dovetail.events.run_events import ChildEvent, Event, RunEnd, RunStart, ToolEnd, TurnEnd
from patience import PATIENCE

DENIED = {"type": "declined", "message": "not on\nSundays [please]"}
EVENTS: list[Event] = [
    RunStart("boss", "scripted:model"),
    ToolInputEnd("c1", "scribe", {"query": "note [it]"}),
    ToolInputEnd("c2", "look", "{half"),
    ChildEvent("r1", RunStart("scribe", "scripted:small", parent_call_id="c1")),
    ChildEvent("r1", ToolInputEnd("c3", "write", {"text": "oak"})),
    ToolEnd("c2", "ok", None, None, 0.25),
    ChildEvent("r1", ToolEnd("c3", "denied", None, DENIED, 0.5)),
    ChildEvent("r1", TextDeltaEvent("t", "I may not.")),
    ChildEvent("r1", TurnEnd(1, Usage(40, 2), "stop")),
    ChildEvent("r1", RunEnd("max-turns")),
    ToolEnd("c1", "error", None, {"type": "agent_max_turns", "message": "it stopped"}, 1.0),
    TurnEnd(1, Usage(10, 1), "tool-calls"),
    TextDeltaEvent("t", "Nothing "),
    TextDeltaEvent("t", "was written."),
]


def draw(tree: AgentTree) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(tree.render())
    return console.file.getvalue()


def test_tree_shows_calls_children_and_how_far_they_are() -> None:
    tree = AgentTree()
    for event in EVENTS:
        tree.take(event)
    assert [line.rstrip() for line in draw(tree).splitlines()] == [
        "boss scripted:model  turn 1, 11 tokens",
        "├── ✗ scribe note [it] 1.0 s it stopped",
        "│   └── scribe scripted:small  turn 1, 42 tokens  ended by max-turns",
        "│       └── ⊘ write oak 0.5 s not on Sundays [please]",
        "└── ✓ look {half 0.2 s",
        "Nothing was written.",
    ]


def test_call_that_runs_has_no_mark_yet_and_long_arguments_are_cut() -> None:
    tree = AgentTree()
    tree.take(RunStart("boss", "m"))
    tree.take(ToolInputEnd("c1", "read", {"path": "x" * 500}))
    shown = draw(tree)
    assert "✓" not in shown
    assert "…" in shown
    assert len(shown) < 300


def test_child_of_an_unknown_call_is_shown_below_its_parent() -> None:
    tree = AgentTree()
    tree.take(RunStart("boss", "m"))
    tree.take(ChildEvent("r1", RunStart("stray", "m")))
    tree.take(ChildEvent("r1", ChildEvent("r2", RunStart("deep", "m"))))
    assert [line.rstrip() for line in draw(tree).splitlines()] == [
        "boss m  turn 0",
        "└── stray m  turn 0",
        "    └── deep m  turn 0",
    ]


def show(console: Console, *, quiet: bool = False) -> str:
    with AgentView(console, quiet=quiet) as view:
        for event in EVENTS:
            view.show(event)
    return console.file.getvalue()


def test_elsewhere_each_event_is_a_line_and_children_are_indented() -> None:
    lines = show(Console(file=io.StringIO(), width=100)).splitlines()
    assert [line.rstrip() for line in lines] == [
        "boss scripted:model",
        "→ scribe note [it]",
        "→ look {half",
        "  scribe scripted:small",
        "  → write oak",
        "✓ look 0.2 s",
        "  ⊘ write 0.5 s not on Sundays [please]",
        "  turn 1, 42 tokens",
        "  ended by max-turns",
        "✗ scribe 1.0 s it stopped",
        "turn 1, 11 tokens",
        "Nothing was written.",
    ]


def test_in_a_terminal_the_last_picture_stays() -> None:
    shown = show(Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None))
    assert "Nothing was written." in shown.splitlines()[-2]
    assert "ended by max-turns" in shown


def test_quiet_view_shows_nothing() -> None:
    assert show(Console(file=io.StringIO(), force_terminal=True), quiet=True) == ""


@contextmanager
def typing(monkeypatch: pytest.MonkeyPatch, text: str) -> Generator[None]:
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    with os.fdopen(reading) as stdin, os.fdopen(writing, "w"):
        monkeypatch.setattr(sys, "stdin", stdin)
        yield


@pytest.mark.parametrize(
    ("typed", "approved"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False)]
)
async def test_question_names_the_agents_and_the_call(
    monkeypatch: pytest.MonkeyPatch, typed: str, approved: bool
) -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    payload = {"tool": "write", "args": {"text": "[oak]"}, "agent_path": ["boss", "scribe"]}
    with typing(monkeypatch, typed), AgentView(console) as view:
        answer = await asyncio.wait_for(view.ask("approval", "c3", payload, None), PATIENCE)
    assert answer["approved"] is approved
    shown = console.file.getvalue()
    assert "boss → scribe: Allow write with this input?" in shown
    assert '│ text: "[oak]"' in shown
    assert "[n] No" in shown


async def test_two_questions_are_asked_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=io.StringIO(), width=100)
    first = {"tool": "write", "args": {}, "agent_path": ["a"]}
    second = {"tool": "delete", "args": {}, "agent_path": ["b"]}
    with typing(monkeypatch, "y\n"), AgentView(console) as view:
        asked = [asyncio.create_task(view.ask("approval", "c", payload, None)) for payload in (first, second)]
        answer = await asyncio.wait_for(asked[0], PATIENCE)
        asked[1].cancel()
        await asyncio.wait(asked)
    assert answer["approved"] is True
    assert console.file.getvalue().index("write") < console.file.getvalue().index("delete")


def test_usage_names_cached_written_and_reasoning_tokens_and_the_cost() -> None:
    used = Usage(1_000, 100, 600, 40, 0.0123, 200)
    assert describe_usage(used) == "1100 tokens, 600 cached, 200 written to cache, 40 reasoning, cost 0.0123"
    assert describe_usage(Usage(7, 3, cost=0.0)) == "10 tokens"
    assert describe_usage(Usage()) == ""


TODOS = {
    "todos": [
        {"content": "Saw [it]", "status": "completed"},
        {"content": "Plane", "status": "in_progress"},
        {"content": "Glue", "status": "pending"},
    ]
}


def test_to_do_list_is_shown_as_lines() -> None:
    tree = AgentTree()
    console = Console(file=io.StringIO(), width=100)
    with AgentView(console) as view:
        for event in (
            RunStart("boss", "m"),
            ToolInputEnd("c1", "write_todos", TODOS),
            ToolEnd("c1", "ok", None),
        ):
            tree.take(event)
            view.show(event)
    assert [line.rstrip() for line in draw(tree).splitlines()][1:] == [
        "└── ✓ write_todos  0.0 s",
        "    ├── ✓ Saw [it]",
        "    ├── ▸ Plane",
        "    └── ○ Glue",
    ]
    assert "→ write_todos\n✓ Saw [it]\n▸ Plane\n○ Glue\n" in console.file.getvalue()


def test_a_tree_shows_how_far_a_model_is_until_it_answers() -> None:
    tree = AgentTree()
    tree.take(RunStart("boss", "local:good"))
    tree.take(ModelProgress("download", 529, 1000))
    assert "The model is on its way: 52 %" in draw(tree)
    tree.take(ModelProgress("read", 360, 900))
    assert draw(tree).rstrip().endswith("Reading the question: 40 %")
    tree.take(TextDeltaEvent("t", "Oak"))
    assert "Reading" not in draw(tree)
