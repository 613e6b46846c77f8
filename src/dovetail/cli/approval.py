"""Approvals in the terminal: what the call would do, and the answer as one line.

No text of the call can look like a line of ours or push one off the screen: it stands behind a margin, which
also a line has that is folded, blanks are counted, long values are cut in the middle, and below a long
preview the question is repeated.
`y` allows, `r` allows in this run, `a` always, `e` edits the input, and `n` declines, with words for the
model after it. The end of the input means no.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from rich.cells import cell_len
from rich.text import Text

from dovetail.cli.keyboard import Keyboard, Menu, MenuItem
from dovetail.cli.output import Console, dump_json
from dovetail.data.shapes import is_dict, is_mapping
from dovetail.data.shown_arguments import find_edit_problem
from dovetail.data.visible import show_lines_to_approve, show_to_approve
from dovetail.policy.policy import LAST_RULE

_MARGIN = "│ "
_MOST_SHOWN = 800
"""Of a value; with the keys below, it leaves room for the question on a screen of 24 lines."""
_MOST_NAMED = 120
_MOST_LINES = 80
_REPEATED_AFTER = 4
"""The question is printed again below a preview of more lines."""
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
    question = describe_question(payload)
    _print(console, fold(question, console.width, margin=""))
    preview = [piece for line in describe_call(payload) for piece in fold(line, console.width)]
    _print(console, preview)
    if len(preview) > _REPEATED_AFTER:
        _print(console, fold(question, console.width, margin=""))
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


def describe_question(payload: Mapping[str, Any]) -> Text:
    """Return the line that says who asks, what would happen, and why a person is asked."""
    who = _name(" → ".join(map(str, payload.get("agent_path", ()))))
    why = str(payload.get("reason") or "")
    return Text.assemble(
        (f"{who}: " if who else "", "yellow"),
        (_ask(payload), "yellow"),
        (f" ({_show(why)})" if why not in ("", LAST_RULE.reason) else "", "dim"),
    )


def _ask(payload: Mapping[str, Any]) -> str:
    name, preview = _name(payload.get("tool")), payload.get("preview")
    if not is_mapping(preview):
        return f"Allow {name} with this input?" if payload.get("args") else f"Allow {name}?"
    match preview.get("kind"):
        case "diff":
            return f"Allow {name} to change {_name(preview.get('path'))}?"
        case "command":
            return f"Allow {name} to run this program?"
        case "request":
            return f"Allow {name} to send this request?"
        case _:
            return f"Allow {name}?"


def describe_call(payload: Mapping[str, Any]) -> Iterator[Text]:
    """Yield the lines of the preview, or of the arguments if there is none."""
    preview, args = payload.get("preview"), payload.get("args")
    if is_mapping(preview):
        yield from describe_preview(preview)
    elif is_mapping(args):
        lines = [f"{_name(name)}: {_show(dump_json(value))}" for name, value in args.items()]
        yield from map(Text, _limit(lines))
    elif args:
        yield Text(_show(str(args)))


def describe_preview(preview: Mapping[str, Any]) -> Iterator[Text]:
    """Yield the lines of a preview; those of a diff are coloured."""
    kind = preview.get("kind")
    if kind == "diff":
        if preview.get("is_new") is True:
            yield Text(f"a new file: {_show(preview.get('path'))}", "dim")
        yield from (Text(line, _find_style(line)) for line in _split_lines(preview.get("diff", "")))
    elif kind == "command":
        yield Text.assemble(("$ ", "dim"), _show(preview.get("command")))
        yield Text(f"in the folder {_name(preview.get('folder'))}", "dim")
    elif kind == "request":
        yield Text(_show(f"{preview.get('method')} {preview.get('url')}"))
    else:
        yield from map(Text, _split_lines(preview.get("text", "")))


def fold(text: Text, width: int, margin: str = _MARGIN) -> Iterator[Text]:
    """Yield a text as lines of a width; each begins with our margin, the first one with the given one."""
    text = text.copy()
    text.expand_tabs(8)
    room, used, places = max(width - len(_MARGIN) - 1, 1), 0, list[int]()
    for place, character in enumerate(text.plain):
        size = _measure(character)
        if used + size > room:
            places.append(place)
            used = 0
        used += size
    for number, piece in enumerate(text.divide(places)):
        yield Text.assemble((_MARGIN if number else margin, "dim"), piece)


def _print(console: Console, lines: Iterable[Text]) -> None:
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False)


def _split_lines(text: Any) -> list[str]:
    """Return the first lines of a text as they are written to a file: only a line feed ends one."""
    lines = show_lines_to_approve(str(text)).split("\n")
    return _limit([_cut_visibly(line, _MOST_SHOWN) for line in (lines if lines[-1] else lines[:-1])])


def _limit(lines: list[str]) -> list[str]:
    left = len(lines) - _MOST_LINES
    return lines if left <= 0 else [*lines[:_MOST_LINES], f"… {left} more lines: e shows the whole input"]


def _show(value: Any) -> str:
    return _cut_visibly(show_to_approve(str(value)), _MOST_SHOWN)


def _name(value: Any) -> str:
    return _cut_visibly(show_to_approve(str(value)), _MOST_NAMED)


def _cut_visibly(text: str, most: int) -> str:
    """Return a text without its middle if it is wider than `most` columns."""
    width = sum(map(_measure, text))
    if width <= most:
        return text
    half = len(text) * most // width // 2
    left = len(text) - 2 * half
    return f"{text[:half]} … {left} characters left out: e shows the whole input … {text[-half:]}"


def _measure(character: str) -> int:
    """Return how many columns a character may take: terminals disagree about joined and combining ones."""
    return max(cell_len(character), 1)


def _find_style(line: str) -> str:
    if line.startswith(("+++", "---", "@@", "\\", "…")):
        return "dim"
    return "green" if line.startswith("+") else "red" if line.startswith("-") else ""


async def _edit(console: Console, args: Any, keyboard: Keyboard) -> dict[str, Any] | None:
    """Return the arguments that the user types; None if nothing is typed."""
    text = dump_json(args, indent=2)
    while True:
        line = (await keyboard.ask("The new input as JSON; empty to leave it", text=text) or "").strip()
        if not line:
            return None
        try:
            edited: Any = json.loads(line)
        except ValueError:
            edited = None
        problem = _find_problem(edited, args)
        if problem is None:
            return edited
        console.print(problem, style="red")
        text = line


def _find_problem(edited: Any, args: Any) -> str | None:
    if not is_dict(edited):
        return "It must be a JSON object."
    return find_edit_problem(edited, args if is_mapping(args) else {})
