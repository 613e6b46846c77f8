"""`python -m dovetail.testing script.json --port 8123`: a scripted model server for other processes.

The file holds a list of replies. The first line printed is the address; the server runs until it is ended.
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
    """Play a script file until the process is asked to end."""
    parser = argparse.ArgumentParser(prog="python -m dovetail.testing", description=__doc__)
    parser.add_argument("script", type=Path, help="a JSON file with a list of replies")
    parser.add_argument("--port", type=int, default=0, help="the port; a free one when left out")
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
    """The replies of a file; what is wrong with one is told now, not when a model is asked."""
    try:
        replies: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    if not is_list(replies):
        raise ConfigError(f"{path} holds no list of replies", hint='Write ["Hello", {"text": "Hi"}].')
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
        raise ConfigError(f"{reply!r} is no reply; a reply is a text, a list of steps or an object")


if __name__ == "__main__":
    main()
