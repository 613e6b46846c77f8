"""The commands of the chat: lines such as `/model local:good`."""

import re
import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from dovetail.cli.chat.conversation import DEFAULT_AGENT, Conversation, describe_age
from dovetail.cli.chat.screen import Screen
from dovetail.cli.keyboard import Menu, MenuItem
from dovetail.cli.run_view import describe_usage
from dovetail.cli.task_view import TaskView
from dovetail.cli.terminal import shorten
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError
from dovetail.policy.rule import MODES
from dovetail.prompts.file import PromptFile, Variable
from dovetail.requesters.survey import Survey
from dovetail.runs.usage import UsageFilter, count_usage, read_period, sum_rows
from dovetail.sessions.message import Message, Session

_COMMAND = re.compile(r"/([a-z]+)(?:\s+(.*))?", re.DOTALL)
_MOST_SESSIONS = 30
_NARROW = 70
"""Columns below which the help leaves out what may follow a command."""
_MODES = {
    "plan": "only read",
    "default": "ask before anything changes",
    "auto": "allow changes in the workspace",
    "yolo": "allow everything",
}
Choice = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name, what may follow it, what it does, and whether it can run during an answer."""

    name: str
    words: str
    summary: str
    is_quick: bool = False


COMMANDS: Sequence[Command] = (
    Command("help", "", "show commands and keys", True),
    Command("model", "[NAME]", "choose the model", True),
    Command("agent", "[NAME]", "choose the agent", True),
    Command("mode", "[NAME]", "choose what may happen without asking", True),
    Command("skill", "[NAME] [MESSAGE]", "use a skill in the next message"),
    Command("prompt", "[NAME] [VARIABLE=VALUE …]", "put a prompt of the library into the input"),
    Command("new", "", "begin a new session"),
    Command("sessions", "[WORDS]", "continue another session"),
    Command("fork", "", "continue in a copy of this session"),
    Command("undo", "", "take your last message back"),
    Command("tasks", "", "show what works in the background, and answer it"),
    Command("queue", "MESSAGE", "have a message answered after this answer"),
    Command("cost", "", "show what this session and today have cost", True),
    Command("export", "[FILE]", "write this session as Markdown", True),
    Command("exit", "", "leave"),
)


class ChatCommands:
    """Carries commands out; `show_path` shows the messages of a session that is continued."""

    def __init__(
        self,
        conversation: Conversation,
        screen: Screen,
        tasks: TaskView,
        show_path: Callable[[Session | None], Awaitable[None]],
    ) -> None:
        self._conversation = conversation
        self._app = conversation.app
        self._screen = screen
        self._tasks = tasks
        self._show_path = show_path

    def find(self, line: str) -> tuple[Command, str] | None:
        """Return the command of a line and what follows it; None if the line is a message.

        Raises:
            ConfigError: no command has this name.
        """
        match = _COMMAND.fullmatch(line.strip())
        if match is None:
            return None
        known = {command.name: command for command in COMMANDS}
        if match[1] not in known:
            hint = "Begin the line with a space to send it as a message."
            names = (f"/{name}" for name in known)
            raise ConfigError(explain_unknown("command", f"/{match[1]}", names), hint=hint)
        return known[match[1]], (match[2] or "").strip()

    async def run(self, command: Command, words: str) -> str | None:
        """Carry a command out; return the message to send, if there is one."""
        return await getattr(self, f"_run_{command.name}")(words)

    def list_choices(self, name: str) -> list[Choice]:
        """Return what may follow a command, with descriptions."""
        app = self._app
        lists: dict[str, Callable[[], list[Choice]]] = {
            "model": self._list_models,
            "agent": lambda: [(each.name, each.description) for each in app.agents.get_all_definitions()],
            "mode": lambda: [(mode, _MODES[mode]) for mode in MODES],
            "skill": lambda: [(skill.name, skill.description) for skill in app.skills.list()],
            "prompt": lambda: [(each.name, each.description or each.title) for each in app.prompts.list()],
        }
        return lists[name]() if name in lists else []

    async def _choose(
        self, what: str, words: str, choices: Sequence[Choice], current: str = ""
    ) -> str | None:
        """Return the words, or what is chosen from a menu, in which the current choice is named."""
        if words:
            return words
        if not choices:
            raise ConfigError(f"No {what} to choose from.")
        items = [
            MenuItem(name, f"{name} (current)" if name == current else name, shorten(text, 60))
            for name, text in choices
        ]
        return (
            await self._screen.ask(f"Which {what}?", Menu(items=items, is_free=True)) or ""
        ).strip() or None

    async def _run_help(self, words: str) -> None:
        is_narrow = self._screen.width < _NARROW
        table = Table.grid(padding=(0, 2))
        for command in COMMANDS:
            further = [] if is_narrow else [f"[dim]{escape(command.words)}[/dim]"]
            table.add_row(f"[tool]/{command.name}[/tool]", *further, command.summary)
        keys = (
            "Enter sends; Alt+Enter, Ctrl-J, or \\ and Enter begins a new line. "
            "Ctrl-X Ctrl-E opens the input in your editor.\n"
            "@ attaches a file, and so does the path of a picture.\n"
            "While an answer is written, a line you send is read in its next turn. "
            "Esc or Ctrl-C stops the answer; Esc also closes a menu.\n"
            "Ctrl-Z suspends the chat (fg brings it back), Ctrl-D leaves."
        )
        self._screen.console.print(table)
        self._note(keys)

    async def _run_model(self, words: str) -> None:
        if (name := await self._choose("model", words, self._list_models())) is not None:
            await self._conversation.choose_model(name)
            self._note(f"Model: {name}")

    def _list_models(self) -> list[Choice]:
        survey = Survey(self._app.settings)
        found = [*survey.list_chosen(), *survey.list_embedded()]
        return [(model.name, model.state) for model in found]

    async def _run_agent(self, words: str) -> None:
        current = self._conversation.agent or DEFAULT_AGENT
        if (name := await self._choose("agent", words, self.list_choices("agent"), current)) is not None:
            await self._conversation.choose_agent(name)
            self._note(f"Agent: {name}")

    async def _run_mode(self, words: str) -> None:
        current = self._conversation.shown_mode
        if (name := await self._choose("mode", words, self.list_choices("mode"), current)) is not None:
            self._conversation.choose_mode(name)
            self._note(f"Mode: {name}, {_MODES[name]}.")

    async def _run_skill(self, words: str) -> str | None:
        chosen = await self._choose("skill", words, self.list_choices("skill"))
        name, _, text = (chosen or "").partition(" ")
        if not name:
            return None
        if self._app.skills.get(name) is None:
            raise ConfigError(self._app.skills.explain_missing(name))
        self._conversation.skills.append(name)
        if not text.strip():
            self._note(f"The next message uses the skill {name}.")
        return text.strip() or None

    async def _run_prompt(self, words: str) -> None:
        chosen = await self._choose("prompt", words, self.list_choices("prompt"))
        if not chosen:
            return
        name, *pairs = shlex.split(chosen)
        prompt = self._app.prompts.get(name)
        values: dict[str, Any] = {}
        for pair in pairs:
            key, equals, value = pair.partition("=")
            if not equals:
                raise ConfigError(f"Invalid value {pair!r}.", hint="Write VARIABLE=VALUE.")
            values[key] = value
        self._screen.fill(await self._render(prompt, values))

    async def _render(self, prompt: PromptFile, values: dict[str, Any]) -> str:
        for variable in prompt.variables:
            if variable.name not in values and (variable.is_required or variable.choices):
                line = await self._screen.ask(
                    f"{variable.name}: {variable.description}" if variable.description else variable.name,
                    Menu(items=[MenuItem(str(each), str(each)) for each in variable.choices]),
                )
                values |= {variable.name: line} if (line or "").strip() else {}
        known = {variable.name: variable for variable in prompt.variables}
        typed = {
            name: _to_choice(known[name], text) if name in known else text for name, text in values.items()
        }
        return prompt.render(typed).text

    async def _run_new(self, words: str) -> None:
        self._conversation.begin()
        self._note("A new session begins with your next message.")

    async def _run_sessions(self, words: str) -> None:
        page = await self._conversation.find_sessions(limit=_MOST_SESSIONS, query=words)
        if not page.sessions:
            raise ConfigError(f"No session contains {words!r}." if words else "There are no sessions yet.")
        items = [
            MenuItem(session.id, shorten(session.title or session.id, 60), describe_age(session))
            for session in page.sessions
        ]
        chosen = await self._screen.ask("Which session?", Menu(items=items))
        if chosen:
            self._conversation.forget_choices()
            await self._show_path(await self._conversation.open(chosen.strip()))

    async def _run_fork(self, words: str) -> None:
        asked = [message for message in await self._conversation.path() if message.role == "user"]
        items = [MenuItem("", "Here: with all messages")]
        items += [MenuItem(each.id, f"Before: {shorten(each.text, 60)}") for each in reversed(asked[1:])]
        until: Message | None = None
        if len(items) > 1:
            line = await self._screen.ask("Where does the copy end?", Menu(items=items))
            until = next((each for each in asked if each.id == (line or "").strip()), None)
        new = await self._conversation.fork(until.id if until else None)
        self._note(f"Forked: {new.title}. The former session stays as it is.")
        if until is not None:
            self._screen.fill(until.text)

    async def _run_undo(self, words: str) -> None:
        message = await self._conversation.undo()
        self._screen.fill(message.text)
        self._note("Your last message is in the input again; what you send now takes its place.")

    async def _run_tasks(self, words: str) -> None:
        await self._tasks.show(self._conversation.session_id)

    async def _run_queue(self, words: str) -> str:
        return words

    async def _run_cost(self, words: str) -> None:
        conversation = self._conversation
        first, last = read_period(None, None, days=1)
        today = UsageFilter(owner=conversation.owner, first=first, last=last)
        total = sum_rows(await count_usage(self._app.runs.database, "day", today))
        cost = "" if total.cost is None else f", cost {total.cost:.4g}"
        self._note(f"This session: {describe_usage(conversation.usage) or 'nothing yet'}.")
        runs = f"{total.runs} run{'' if total.runs == 1 else 's'}"
        self._note(f"Today (UTC): {total.input_tokens + total.output_tokens} tokens in {runs}{cost}.")

    async def _run_export(self, words: str) -> None:
        text = await self._conversation.export()
        name = words or f"{self._conversation.session_id}.md"
        _write_new(name, text)
        self._note(f"Written to {name}.")

    async def _run_exit(self, words: str) -> None:
        self._screen.leave()

    def _note(self, text: str) -> None:
        self._screen.console.print(text, style="dim", markup=False)


def _write_new(name: str, text: str) -> None:
    try:
        with Path(name).expanduser().open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        hint = "Name another file: /export notes.md"
        raise ConfigError(f"{name} exists already.", hint=hint) from error
    except OSError as error:
        raise ConfigError(f"Cannot write {name}: {error.strerror}.") from error


def _to_choice(variable: Variable, text: str) -> Any:
    """Return the choice that a text means: choices may be numbers."""
    return next((each for each in variable.choices if str(each) == text), text)


def describe_state(conversation: Conversation, model: str) -> str:
    """Return agent, model, mode and usage for the status line."""
    used = describe_usage(conversation.usage)
    agent = conversation.agent or DEFAULT_AGENT
    return " · ".join(part for part in (agent, model, f"{conversation.shown_mode} mode", used) if part)
