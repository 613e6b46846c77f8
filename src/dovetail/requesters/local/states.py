"""What chats begin with, kept on disk as the model has it after reading: a later start need not read it.

A state is named by the weights, the version of the engine and the beginning of the text. The engine compares
it with a prompt token by token and uses what agrees, so a state that is out of date costs only its place. The
oldest ones are removed.
"""

import contextlib
import hashlib
import http.client
import json
import logging
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dovetail.requesters.local.weights import cache_folder

logger = logging.getLogger(__name__)
BEGINNING = 600
"""Characters of a text that name its state: projects whose lists of tools differ later share one."""
MOST_STATES = 12
"""Some megabytes each."""
SECONDS = 30.0


def find_folder() -> Path:
    """Return the folder of the states."""
    return cache_folder().with_name("prompts")


def name_state(weights: Path, context: int, slot: int, text: str) -> str:
    """Return the name of the state after a text that begins like this one."""
    status = weights.stat()
    parts = [
        weights.name,
        status.st_size,
        status.st_mtime_ns,
        version("xllamacpp"),
        context,
        text[:BEGINNING],
    ]
    return f"{slot}-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]}.state"


def exists(name: str) -> bool:
    """Return whether there is a state of this name."""
    return (find_folder() / name).exists()


def restore(server: Any, key: str, slot: int, name: str) -> None:
    """Put a slot into a state, if there is one; a broken one is removed."""
    if not exists(name):
        return
    path = find_folder() / name
    is_restored = _act(server, key, slot, "restore", name)
    with contextlib.suppress(OSError):  # the folder may be for reading only
        if is_restored:
            os.utime(path)  # it is used
        else:
            path.unlink()


def save(server: Any, key: str, slot: int, name: str) -> None:
    """Keep the state of a slot; if that fails, the text is read again next time."""
    folder = find_folder()
    part = f"{name}.{os.getpid()}.part"
    try:
        if _act(server, key, slot, "save", part):
            (folder / part).replace(folder / name)
        else:
            (folder / part).unlink(missing_ok=True)
        _remove_oldest(folder)
    except OSError as error:
        logger.info("Cannot keep what the model has read: %s", error)


def _act(server: Any, key: str, slot: int, action: str, name: str) -> bool:
    """Ask the engine, which offers this only on its loopback port; return whether it did it."""
    address = urlsplit(str(server.listening_address))
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=SECONDS)
    try:
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request("POST", f"/slots/{slot}?action={action}", json.dumps({"filename": name}), headers)
        answer = connection.getresponse()
        said = answer.read()
    except (OSError, http.client.HTTPException) as error:
        logger.info("Cannot %s what the model has read: %s", action, error)
        return False
    finally:
        connection.close()
    if answer.status != 200:
        logger.info("Cannot %s what the model has read: %s", action, said.decode(errors="replace"))
    return answer.status == 200


def _remove_oldest(folder: Path) -> None:
    states = sorted(folder.glob("*.state"), key=lambda path: path.stat().st_mtime)
    for path in states[:-MOST_STATES]:
        path.unlink(missing_ok=True)
