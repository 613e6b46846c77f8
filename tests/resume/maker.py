"""Make processes of the real command line: what takes long to import is imported only once.

    python maker.py PACKAGES < orders

Each line on standard input is an order in JSON: `{"words": ["serve", "--port", "0"], "environment": {…},
"folder": …, "output": …}`. It forks a process that runs `dovetail serve --port 0` in the folder, with the
environment, and with both its streams in the file `output`; its process id is printed. The processes belong
to a process group of their own each, and end with this one.
"""

import importlib
import json
import os
import signal
import sys
import time
from typing import Any


def main() -> None:
    """Make processes until standard input closes."""
    for name in sys.argv[1].split(","):
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead leave no zombies; others watch them
    made: list[int] = []
    for line in sys.stdin:
        order = json.loads(line)
        process_id = os.fork()
        if process_id == 0:
            _become(order)
        made.append(process_id)
        print(process_id, flush=True)  # noqa: T201
    for process_id in made:
        _kill(process_id)


def _become(order: dict[str, Any]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    output = os.open(order["output"], os.O_WRONLY)
    for place in (1, 2):
        os.dup2(output, place)
    _set_clock(order["environment"].get("RESUME_CLOCK", os.devnull))
    # The streams of this process have been used: those of the command are new.
    sys.stdin, sys.stdout, sys.stderr = open(os.devnull), os.fdopen(1, "w"), os.fdopen(2, "w", 1)  # noqa: SIM115
    sys.argv = ["dovetail", *order["words"]]
    try:
        sys.modules["dovetail.cli.main"].main(order["words"])
    finally:
        sys.stdout.flush()


def _set_clock(path: str) -> None:
    """Let the clock be wrong by the seconds in a file, if it exists."""
    true_time = time.time

    def tell() -> float:
        try:
            with open(path) as file:
                return true_time() + float(file.read() or 0)
        except OSError:
            return true_time()

    time.time = tell


def _kill(process_id: int) -> None:
    try:
        os.kill(process_id, signal.SIGKILL)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    main()
