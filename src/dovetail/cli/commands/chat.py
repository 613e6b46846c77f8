"""`dovetail chat`: chat with an agent in the terminal, with the agents, tools and sessions of the page."""

import asyncio
import signal
import sys
from pathlib import Path

import typer
from rich.console import Console

from dovetail.app import Dovetail
from dovetail.cli.first_model import FirstModel
from dovetail.cli.terminal import MODE, WORKSPACE, read_choices, read_line
from dovetail.cli.transcript import Transcript
from dovetail.errors import ConfigError
from dovetail.sessions.request import ChatRequest

app = typer.Typer()


@app.command("chat")
def chat(
    message: list[str] | None = typer.Argument(None, help="A message; without it, a conversation starts."),
    agent: str = typer.Option("master", help="The agent to chat with."),
    model: str | None = typer.Option(None, help="The model, such as local:small or openai:gpt-4.1."),
    session: str | None = typer.Option(None, help="Continue this session."),
    workspace: Path | None = WORKSPACE,
    mode: str | None = MODE,
) -> None:
    """Chat with an agent in the terminal."""
    text = (" ".join(message or ()) or ("" if sys.stdin.isatty() else sys.stdin.read())).strip()
    if not text and not sys.stdin.isatty():
        raise ConfigError(
            "No message: standard input is empty.", hint='Pass a message: `dovetail chat "Hello"`.'
        )
    dovetail = Dovetail(read_choices(model, mode), workspace=workspace)
    FirstModel(dovetail.settings).prepare()
    failed = asyncio.run(_talk(dovetail, text, ChatRequest(agent=agent, session_id=session)))
    raise typer.Exit(1 if failed else 0)


async def _talk(dovetail: Dovetail, text: str, request: ChatRequest) -> bool:
    """Send one message, or chat until the end of input; return whether the last answer failed."""
    console = Console(highlight=False)
    async with dovetail:
        await dovetail.open_chat()
        transcript = Transcript(dovetail, console)
        if text:
            return not await transcript.exchange(text, request)
        console.print("[dim]Ctrl-D ends the chat, Ctrl-C stops an answer.[/dim]")
        while (line := await _read_line(console)) is not None:
            if line.strip():
                await transcript.exchange(line, request)
    return False


async def _read_line(console: Console) -> str | None:
    """Return the next message; None at the end of the input, or on Ctrl-C at the prompt."""
    reading = asyncio.ensure_future(read_line())
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, reading.cancel)
    try:
        console.print("\n> ", end="")
        await asyncio.wait([reading])
        return None if reading.cancelled() else reading.result()
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        reading.cancel()
