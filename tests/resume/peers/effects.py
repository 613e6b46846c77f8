"""What the programs of all peers share: the effect ledger, gates, and results as lines of JSON.

The programs run in an environment of their own, without Dovetail. The harness sets `LEDGER`, `GATES`,
`MODEL_URL` and `STATE`, the folder in which a program keeps what outlives it.
"""

import json
import os
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

EDITION = 1
STATE = Path(os.environ["STATE"])
MODEL_URL = os.environ["MODEL_URL"]


def work(tool: str, key: str) -> str:
    """Have an effect, and return when the harness says so."""
    line = {"tool": tool, "key": key, "edition": EDITION}
    place = os.open(os.environ["LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(place, json.dumps(line).encode() + b"\n")
    os.fsync(place)
    os.close(place)
    pass_gate(key)
    return f"{tool} {key} is done"


def pass_gate(key: str) -> None:
    """Wait at a gate of the harness."""
    body = json.dumps({"key": key}).encode()
    request = urllib.request.Request(os.environ["GATES"], body, {"content-type": "application/json"})
    urllib.request.urlopen(request).read()


def report(**fields: Any) -> None:
    """Print a result."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def run(commands: dict[str, Callable[..., Any]]) -> None:
    """Run the command of the command line, once its gate is open.

    `finish` answers the last question, tries to answer it again, and then does all that is left to read.
    """
    name, *words = sys.argv[1:]
    pass_gate(f"process {name}")
    if name != "finish":
        commands[name](*words)
        return
    for last in (("answer", "yes"), ("answer", "yes"), ("history",), ("fork",)):
        if last[0] in commands:
            commands[last[0]](*last[1:])
