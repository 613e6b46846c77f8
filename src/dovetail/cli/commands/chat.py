"""`dovetail chat`: chat with an agent in the terminal, with the agents, tools and sessions of the page."""

import asyncio
import os
import sys
from pathlib import Path

import typer

from dovetail.app import Dovetail
from dovetail.cli.chat.conversation import Conversation
from dovetail.cli.chat.mentions import read_message
from dovetail.cli.chat.plain import Form, PlainAnswer, choose_form
from dovetail.cli.first_model import FirstModel
from dovetail.cli.terminal import (
    JSON_LINES,
    JSON_RESULT,
    MODE,
    MODEL,
    PRINT,
    WORKSPACE,
    read_choices,
    read_piped,
)
from dovetail.errors import ConfigError
from dovetail.extensions.workspace import Workspace
from dovetail.lazy import lazy
from dovetail.requesters.local.arrival import shown_by_caller
from dovetail.settings.sections import TerminalSettings, Theme

looks = lazy("dovetail.cli.chat.look")
talks = lazy("dovetail.cli.chat.talk")

app = typer.Typer()


@app.command("chat")
def chat(  # noqa: PLR0913 - every option of the command is one
    message: list[str] | None = typer.Argument(
        None, help="The message; without one, an interactive chat starts."
    ),
    agent: str | None = typer.Option(None, help="The agent; by default that of the session, or master."),
    model: str | None = MODEL,
    session: str | None = typer.Option(None, help="Continue the session with this id, or start it."),
    resume: bool = typer.Option(False, "--continue", "-c", help="Continue the last session."),
    only_answer: bool = PRINT,
    as_json: bool = JSON_RESULT,
    as_lines: bool = JSON_LINES,
    theme: Theme | None = typer.Option(None, help="The colours: auto, dark, light or plain."),
    workspace: Path | None = WORKSPACE,
    mode: str | None = MODE,
) -> None:
    """Chat with an agent in the terminal, or get a single answer.

    Piped text is sent as the message, or along with it: git diff | dovetail chat "Review this".
    """
    form = choose_form(only_answer, as_json, as_lines)
    text, context = " ".join(message or ()).strip(), read_piped()
    if not text:
        text, context = context.strip(), ""
    can_show = _can_show()
    if not text and (form is not None or not can_show or not sys.stdin.isatty()):
        problem, hint = _explain_silence(form)
        raise ConfigError(problem, hint=hint)
    dovetail = Dovetail(read_choices(model, mode), workspace=workspace)
    FirstModel(dovetail.settings).prepare()
    conversation = Conversation(
        app=dovetail,
        session_id=session,
        agent=agent,
        model=model,
        mode=mode,
        is_script=form is not None and session is None,
    )
    if form is None and can_show:
        look = looks.find_look(theme or dovetail.settings.section(TerminalSettings).theme)
        work = talks.start(conversation, look, text, context, resume=resume)
    else:
        work = _answer(conversation, form or "text", text, context, resume=resume)
    with shown_by_caller():
        raise typer.Exit(asyncio.run(work))


async def _answer(conversation: Conversation, form: Form, text: str, context: str, *, resume: bool) -> int:
    """Answer one message without a screen; return the exit code."""
    async with conversation.app as dovetail:
        await dovetail.open_chat()
        await conversation.resume(last=resume)
        draft = read_message(text, Workspace(dovetail.workspace), context)
        for note in draft.notes:
            typer.echo(note, err=True)
        started = await conversation.send(draft.parts)
        return await PlainAnswer(dovetail, form, conversation.owner).follow(started)


def _can_show() -> bool:
    """Whether the standard output is a terminal on which the cursor can be moved."""
    return sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def _explain_silence(form: Form | None) -> tuple[str, str]:
    hint = 'Pass a message: dovetail chat "Hello"'
    if not sys.stdin.isatty():
        return "No message: standard input is empty.", hint
    if form is not None:
        return "No message.", hint
    return "A conversation needs a terminal on which the cursor can be moved.", hint
