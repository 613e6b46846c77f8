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

from dovetail.testing.server import ScriptedServer


def main() -> None:
    """Play a script file until the process is asked to end."""
    parser = argparse.ArgumentParser(prog="python -m dovetail.testing", description=__doc__)
    parser.add_argument("script", type=Path, help="a JSON file with a list of replies")
    parser.add_argument("--port", type=int, default=0, help="the port; a free one when left out")
    arguments = parser.parse_args()
    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    replies = json.loads(arguments.script.read_text(encoding="utf-8"))
    with ScriptedServer(replies, port=arguments.port) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        ended.wait()


if __name__ == "__main__":
    main()
