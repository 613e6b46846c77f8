"""`python -m dovetail.testing script.json --port 8123`: a scripted model server for other processes.

The file contains a list of replies. The first line of output is the address; the server runs until stopped.
"""

import argparse
import json
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.errors import ConfigError
from dovetail.testing.replies import Gate
from dovetail.testing.script import read_reply, read_step
from dovetail.testing.server import ScriptedServer


def main() -> None:
    """Play a script file until the process is stopped."""
    parser = argparse.ArgumentParser(prog="python -m dovetail.testing", description=__doc__)
    parser.add_argument("script", type=Path, help="a JSON file with a list of replies")
    parser.add_argument("--port", type=int, default=0, help="the port (default: any free port)")
    arguments = parser.parse_args()
    try:
        replies = read_script(arguments.script)
    except ConfigError as error:
        parser.error(str(error))
    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    with ScriptedServer(replies, port=arguments.port) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        ended.wait()


def read_script(path: Path) -> list[Any]:
    """Read the replies of a file; an invalid reply is an error now, not when it is requested."""
    try:
        replies: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"Cannot read {path}: {error}") from error
    if not is_list(replies):
        raise ConfigError(f"{path} must contain a list of replies.", hint='Write ["Hello", {"text": "Hi"}].')
    for number, reply in enumerate(replies, start=1):
        try:
            _check_reply(reply)
        except ConfigError as error:
            raise ConfigError(f"{path}, reply {number}: {error.message}", hint=error.hint) from error
    return list(replies)


def _check_reply(reply: Any) -> None:
    if is_mapping(reply):
        read_reply(reply, Gate)
    elif is_list(reply):
        for step in reply:
            read_step(step, Gate)
    elif not isinstance(reply, str):
        raise ConfigError(f"Invalid reply {reply!r}: expected a string, a list of steps or an object.")


if __name__ == "__main__":
    main()
