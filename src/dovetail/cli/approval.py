"""Approvals in the terminal: what the call would do, and the answer as one line.

`y` allows, `r` allows in this run, `a` always, `e` edits the input, and `n` declines, with words for the
model after it. The end of the input means no.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from dovetail.cli.keyboard import Keyboard, Menu, MenuItem
from dovetail.cli.terminal import shorten
from dovetail.data.shapes import is_dict, is_mapping
from dovetail.policy.policy import LAST_RULE

_MOST_ASKED = 4000
_MOST_LINES = 80
_ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "y": {"approved": True, "remember": "once"},
    "yes": {"approved": True, "remember": "once"},
    "r": {"approved": True, "remember": "run"},
    "run": {"approved": True, "remember": "run"},
    "a": {"approved": True, "remember": "always"},
    "always": {"approved": True, "remember": "always"},
    "": {"approved": False},
    "n": {"approved": False},
    "no": {"approved": False},
}
_MENU = Menu(
    items=(
        MenuItem("y", "Yes", word="yes"),
        MenuItem("r", "Yes, also for the same call again in this run", word="run"),
        MenuItem("a", "Always allow exactly this call", word="always"),
        MenuItem("e", "Edit the input first", word="edit"),
        MenuItem("n", "No", "n and a reason: the model reads it", word="no", takes_reason=True),
    ),
    ways="y, r, a, e or n; empty for no",
    escape="declines",
    comes_by_itself=True,
)


async def ask_approval(console: Console, payload: Mapping[str, Any], keyboard: Keyboard) -> Mapping[str, Any]:
    """Ask the user whether a call may run."""
    console.print()
    for line in describe_call(payload):
        console.print(line, soft_wrap=isinstance(line, Text), highlight=False)
    while True:
        line = await keyboard.ask("Allow this call?", _MENU)
        answer = read_answer(line or "")
        if answer == "edit":
            edited = await _edit(console, payload.get("args"), keyboard)
            if edited is not None:
                return {"approved": True, "remember": "once", "edited_args": edited}
        elif answer is not None:
            return answer
        else:
            console.print("Answer y, r, a, e or n; n and a reason declines with words.", style="red")


def read_answer(line: str) -> Mapping[str, Any] | Literal["edit"] | None:
    """Return the answer that a line means; None if it means none."""
    first, _, rest = line.strip().partition(" ")
    word, reason = first.lower().rstrip(",:"), rest.strip()
    if word in ("n", "no") and reason:
        return {"approved": False, "reason": reason}
    if word in ("e", "edit") and not reason:
        return "edit"
    return None if reason else _ANSWERS.get(word)


def describe_call(payload: Mapping[str, Any]) -> Iterator[str | Text]:
    """Yield the lines that say which call waits, why, and what it would do."""
    who = " → ".join(map(str, payload.get("agent_path", ())))
    by = f"[yellow]{escape(who)}[/yellow]: " if who else ""
    why = str(payload.get("reason") or "")
    reason = f" [dim]({escape(why)})[/dim]" if why not in ("", LAST_RULE.reason) else ""
    yield f"{by}[yellow]{escape(_ask(payload))}[/yellow]{reason}"
    preview = payload.get("preview")
    if is_mapping(preview):
        yield from describe_preview(preview)


def _ask(payload: Mapping[str, Any]) -> str:
    """Return the question: what would happen, with what."""
    name, preview = str(payload.get("tool")), payload.get("preview")
    if not is_mapping(preview):
        return f"Allow {name} {shorten(payload.get('args'), _MOST_ASKED)}?"
    match preview.get("kind"):
        case "diff":
            return f"Allow {name} to change {preview.get('path')}?"
        case "command":
            return f"Allow {name} to run this program?"
        case "request":
            return f"Allow {name} to send this request?"
        case _:
            return f"Allow {name}?"


def describe_preview(preview: Mapping[str, Any]) -> Iterator[Text]:
    """Yield the lines of a preview; those of a diff are coloured."""
    kind = preview.get("kind")
    if kind == "diff":
        yield from _describe_diff(preview)
    elif kind == "command":
        yield Text.assemble(("  $ ", "dim"), str(preview.get("command")))
        yield Text(f"  in the folder {preview.get('folder')}", "dim")
    elif kind == "request":
        yield Text(f"  {preview.get('method')} {preview.get('url')}")
    else:
        yield from (Text(f"  {line}") for line in str(preview.get("text", "")).splitlines())


def _describe_diff(preview: Mapping[str, Any]) -> Iterator[Text]:
    lines = str(preview.get("diff", "")).splitlines()
    if preview.get("is_new") is True:
        yield Text(f"  a new file: {preview.get('path')}", "dim")
    for line in lines[:_MOST_LINES]:
        yield Text(f"  {line}", _find_style(line))
    if len(lines) > _MOST_LINES:
        yield Text(f"  … {len(lines) - _MOST_LINES} more lines", "dim")


def _find_style(line: str) -> str:
    if line.startswith(("+++", "---", "@@", "\\")):
        return "dim"
    return "green" if line.startswith("+") else "red" if line.startswith("-") else ""


async def _edit(console: Console, args: Any, keyboard: Keyboard) -> dict[str, Any] | None:
    """Return the arguments that the user types; None if nothing is typed."""
    text = json.dumps(args, ensure_ascii=False, indent=2)
    while True:
        line = (await keyboard.ask("The new input as JSON; empty to leave it", text=text) or "").strip()
        if not line:
            return None
        try:
            edited: Any = json.loads(line)
        except ValueError:
            edited = None
        if is_dict(edited):
            return edited
        console.print("It must be a JSON object.", style="red")
        text = line
