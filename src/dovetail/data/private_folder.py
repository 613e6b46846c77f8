"""Where secrets are kept, outside of every workspace, and which places no caller's path may lead to.

Each workspace has a folder of its own in the user's data folder: keys, logins and remembered approvals of
one workspace are not those of another. Everything that opens a path for a caller asks `is_private` first,
with the place that the path really leads to.
"""

import fcntl
import hashlib
import logging
import os
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from dovetail.data.private_file import make_private_folder, open_private
from dovetail.lazy import lazy

platformdirs = lazy("platformdirs")

logger = logging.getLogger(__name__)

STATE_FOLDER = ".dovetail"
"""The folder of a workspace with its database; callers may open nothing in it but the skills."""
REFUSAL = "is in Dovetail's own folder, which tools and mentions cannot open"
_SKILLS = "skills"
_WORD = re.compile(r"[^\s'\"`=:,;|&<>(){}\[\]$]+")
_OWN_FOLDER = re.compile(r"/proc/(self|thread-self)/cwd(?=/|$)")
"""The folder in which a program runs, by another name."""
_PRIVATE_IN_DATA = ("private", "chat_history", "trusted_agents.json")
_IGNORED_BY_GIT = f"*\n!/{_SKILLS}/\n!/{_SKILLS}/**\n"


def find_data_folder() -> Path:
    """Return the folder of the user's own files: `DOVETAIL_DATA`, otherwise where the system keeps such."""
    chosen = os.environ.get("DOVETAIL_DATA")
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_data_dir("dovetail"))


def find_private_folder(workspace: Path) -> Path:
    """Return the folder with the secrets of a workspace; it may not exist yet."""
    root = workspace.resolve()
    name = re.sub(r"[^\w.-]", "_", root.name) or "root"
    return find_data_folder() / "private" / f"{name}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:12]}"


def make_state_folder(folder: Path) -> None:
    """Make the folder of a database; in a new `.dovetail`, git ignores everything but the skills."""
    if folder.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    if folder.name == STATE_FOLDER:
        (folder / ".gitignore").write_text(_IGNORED_BY_GIT, encoding="utf-8")


def settle_private(workspace: Path, name: str) -> Path:
    """Return the place of a file or folder with secrets; one that is still in the workspace is moved there.

    If both exist, the one outside of the workspace is used, and the other is kept next to it. One that
    cannot be moved is used where it is.
    """
    place, former = find_private_folder(workspace) / name, workspace / STATE_FOLDER / name
    if not os.path.lexists(former):
        return place
    try:
        if former.is_dir():
            for file in sorted(former.iterdir()):
                _move(file, place / file.name)
            former.rmdir()
        else:
            _move(former, place)
    except OSError as error:
        logger.warning("cannot move %s to %s, it is used where it is: %s", former, place, error.strerror)
        return former
    return place


def _move(former: Path, place: Path) -> None:
    """Move one file: it is complete in its new place before it is deleted in the former one."""
    make_private_folder(place.parent)
    with open_private(place.parent / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            content = former.read_bytes()
        except FileNotFoundError:  # another process has moved it
            return
        target = place
        if place.exists() and place.read_bytes() != content:
            names = (place.with_name(f"{place.name}.old-{number}") for number in count(1))
            target = next(each for each in names if not each.exists())
            logger.warning("%s is used; the other one, from the workspace, is kept as %s", place, target.name)
        _write(target, content)
        former.unlink()
    logger.warning("moved %s to %s: secrets are no longer kept in the workspace", former, target)


def _write(target: Path, content: bytes) -> None:
    draft = target.with_name(f".{target.name}.draft")
    with open_private(draft, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(target)


def is_private(place: Path, workspace: Path) -> bool:
    """Whether a real place, links resolved, is one that no caller may open: it may hold secrets or chats."""
    if place.is_relative_to(workspace):
        parts = [part.casefold() for part in place.relative_to(workspace).parts]
        if STATE_FOLDER in parts and parts[parts.index(STATE_FOLDER) + 1 :][:1] != [_SKILLS]:
            return True
    return any(place.is_relative_to(private) for private in _find_private_places())


def is_linked_secret(status: os.stat_result, workspace: Path) -> bool:
    """Whether an open file is also, as a hard link, one of the private files."""
    if status.st_nlink < 2:
        return False
    places = [workspace / STATE_FOLDER, *_find_private_places()]
    return any(os.path.samestat(status, other) for place in places for other in _find_files(place))


def find_private_path(text: str, folder: Path, workspace: Path) -> str | None:
    """Return the first path in a text, such as an argument of a command, that leads to a private place.

    A path that a program puts together itself, or finds in a folder, cannot be seen here.
    """
    for word in dict.fromkeys(_find_words(text)):
        try:
            path = _OWN_FOLDER.sub(lambda _: str(folder), word)
            place = (folder / Path(path).expanduser()).resolve()
            if is_private(place, workspace) or is_linked_secret(place.stat(), workspace):
                return word
        except (OSError, ValueError, RuntimeError):  # no path, or none that exists
            continue
    return None


def _find_words(text: str) -> Iterator[str]:
    """Yield what may be a path in a text, also behind a short option and an `@`, as in `curl -d @file`."""
    for word in (text, *_WORD.findall(text)):
        yield word
        if word.startswith("-"):
            yield word[2:]
        yield from word.split("@")[1:]


def _find_private_places() -> list[Path]:
    data = find_data_folder().resolve()
    return [data / name for name in _PRIVATE_IN_DATA]


def _find_files(place: Path) -> Iterator[os.stat_result]:
    files = (
        [place] if place.is_file() else (Path(at, name) for at, _, names in os.walk(place) for name in names)
    )
    for file in files:
        try:
            if _SKILLS not in file.relative_to(place).parts[:1]:
                yield file.stat()
        except OSError:  # it has been deleted
            continue
