"""Run programs in the workspace (rule F112), without a shell."""

import asyncio
import shlex
from typing import Any

from dovetail.errors import ToolError
from dovetail.extensions.workspace import Workspace
from dovetail.settings import find_workspace
from dovetail.tools import ToolContext

from .process import Outcome, run_program

DEFAULT_SECONDS, MOST_SECONDS = 20, 120
DEFAULT_CHARACTERS, MOST_CHARACTERS = 6000, 20000
OPERATORS = (";", "|", "||", "&&", "&", ">", ">>", "<", "2>", "2>&1")
_place: dict[str, Workspace] = {}


def setup(context: Any) -> None:
    """Use the app's workspace."""
    _place["workspace"] = Workspace(context.workspace)


def _workspace() -> Workspace:
    return _place.get("workspace") or Workspace(find_workspace())


def show_command(arguments: dict[str, Any], context: ToolContext) -> dict[str, str]:
    """Show the command and the folder it would run in."""
    workspace = _workspace()
    folder = workspace.resolve(arguments.get("cwd") or ".")
    return {"kind": "command", "command": arguments["command"], "folder": workspace.show(folder)}


async def run_shell_command(
    context: ToolContext,
    command: str,
    cwd: str | None = None,
    timeout_seconds: int | None = None,
    max_output_chars: int | None = None,
) -> str:
    """Run a command and report its exit code and output."""
    arguments = _split(command)
    workspace = _workspace()
    folder = workspace.resolve(cwd or ".")
    if not folder.is_dir():
        raise ToolError(f"Invalid cwd {cwd!r}: not a folder in the workspace.", type="invalid_cwd")
    for argument in arguments:
        await asyncio.to_thread(workspace.check_argument, argument, folder)
    seconds = _limit(timeout_seconds, DEFAULT_SECONDS, MOST_SECONDS)
    characters = _limit(max_output_chars, DEFAULT_CHARACTERS, MOST_CHARACTERS)
    try:
        outcome = await run_program(arguments, folder, seconds, characters, context.update)
    except FileNotFoundError as error:
        raise ToolError(f"Program {arguments[0]!r} not found.", type="not_found") from error
    except PermissionError as error:
        raise ToolError(
            f"{arguments[0]!r} is not executable: permission denied.", type="permission_denied"
        ) from error
    except (OSError, ValueError) as error:
        raise ToolError(f"Cannot start {arguments[0]!r}: {error}") from error
    lines = [f"cwd: {workspace.show(folder)}", *_report(outcome, seconds, characters)]
    if operators := [each for each in arguments if each in OPERATORS or each.endswith(";")]:
        lines.append(f"note: no shell was used; {' '.join(operators)} reached the program as plain arguments")
    return "\n".join(lines)


def _split(command: str) -> list[str]:
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise ToolError(f"Invalid command: {error}.", type="invalid_command") from error
    if not arguments or not arguments[0]:
        raise ToolError("The command is empty.", type="invalid_command")
    return arguments


def _limit(value: int | None, default: int, most: int) -> int:
    return default if value is None or value <= 0 else min(value, most)


def _report(outcome: Outcome, seconds: int, characters: int) -> list[str]:
    if outcome.exit_code is None:
        lines = [f"exit_code: none (killed after the time limit of {seconds} s)"]
    else:
        lines = [f"exit_code: {outcome.exit_code}"]
    # Programs report failures on stderr: a third of the characters is reserved for it.
    room = max(characters // 3, characters - len(outcome.stdout.text))
    stderr = outcome.stderr.text[:room]
    stdout = outcome.stdout.text[: characters - len(stderr)]
    lines += [f"stdout:\n{stdout.rstrip()}"] if stdout.strip() else ["stdout: (empty)"]
    if outcome.stderr.length:
        lines.append(f"stderr:\n{stderr.rstrip()}")
    if (length := outcome.stdout.length + outcome.stderr.length) > len(stdout) + len(stderr):
        lines.append(f"truncated: showing {len(stdout) + len(stderr)} of {length} characters")
    return lines


TOOL = {
    "label": "shell",
    "name": "run_shell_command",
    "description": (
        "Run one program in the workspace and get its exit code and output. No shell is used: "
        "pipes, redirections, && and ; are plain arguments. All its processes end with the call."
    ),
    "kind": "execute",
    "time_limit": MOST_SECONDS + 10,
    "parameters": {
        "command": {"type": "string", "description": "Program and arguments: ls -la app", "required": True},
        "cwd": {"type": "string", "description": "Folder to run in, relative to the workspace"},
        "timeout_seconds": {
            "type": "integer",
            "description": f"Seconds until the command is killed, at most {MOST_SECONDS}",
            "default": DEFAULT_SECONDS,
        },
        "max_output_chars": {
            "type": "integer",
            "description": f"Characters of output to return, at most {MOST_CHARACTERS}",
            "default": DEFAULT_CHARACTERS,
        },
    },
    "execute": run_shell_command,
    "preview": show_command,
}
