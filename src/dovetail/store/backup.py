"""Backups of an SQLite database, taken while it is in use, and restoring them."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from dovetail.errors import ConfigError
from dovetail.store.address import HEAD
from dovetail.store.database import Database
from dovetail.store.processes import is_held

_SUFFIXES = ("-wal", "-shm")
_PUT_BACK = "Restore it with `pg_restore --clean --if-exists --no-owner --dbname=$DATABASE_URL copy.dump`."


def back_up(database: Database, target: Path) -> None:
    """Write a backup of the current state; the database stays in use."""
    source = _find_file(database, "Back it up with `pg_dump --format=custom --file=copy.dump $DATABASE_URL`.")
    if target.exists():
        raise ConfigError(f"{target} already exists.", hint="Choose another file name, or move it away.")
    if not target.parent.is_dir():
        raise ConfigError(f"Folder {target.parent} does not exist.", hint="Create it, or choose another one.")
    if not source.is_file():
        raise ConfigError(f"No database at {source}.", hint="Use --workspace, or set DATABASE_URL.")
    unfinished = target.with_name(f"{target.name}.part")
    unfinished.unlink(missing_ok=True)
    try:
        unfinished.touch(mode=0o600)  # for its owner alone, as the database is
        with closing(_open_to_read(source)) as connection:
            connection.execute("VACUUM INTO ?", (str(unfinished),))
        check(unfinished)
        unfinished.replace(target)
    except (sqlite3.Error, OSError) as error:
        raise ConfigError(
            f"Cannot write the backup to {target}: {error}", hint="Check that the disk has free space."
        ) from error
    finally:
        unfinished.unlink(missing_ok=True)


def restore(database: Database, copy: Path) -> Path | None:
    """Replace the database by a backup; return the path of the previous database, if any."""
    target = _find_file(database, _PUT_BACK)
    check(copy)
    _refuse_newer(copy)
    if is_in_use(target):
        raise ConfigError(f"{target} is in use.", hint="Stop the server first.")
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.part")
    unfinished.unlink(missing_ok=True)
    unfinished.touch(mode=0o600)
    with closing(sqlite3.connect(copy)) as source, closing(sqlite3.connect(unfinished)) as sink:
        source.backup(sink)
    aside = _move_aside(target)
    unfinished.replace(target)
    return aside


def check(path: Path) -> None:
    """Raise `ConfigError` unless a file is an intact Dovetail database."""
    if not path.is_file():
        raise ConfigError(f"File {path} does not exist.")
    try:
        with closing(_open_to_read(path)) as connection:
            problem = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error as error:
        raise ConfigError(f"{path} is not a Dovetail database backup: {error}") from error
    if problem != "ok":
        raise ConfigError(f"{path} is damaged: {problem}")


def _refuse_newer(copy: Path) -> None:
    """Raise `ConfigError` for a backup that is newer than this program."""
    with closing(_open_to_read(copy)) as connection:
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    if found is not None and found[0] > HEAD:
        raise ConfigError(
            f"{copy} has a newer version ({found[0]}) than this program supports ({HEAD}).",
            hint="Update dovetail first, then restore it.",
        )


def is_in_use(path: Path) -> bool:
    """Whether a process that uses the database is alive."""
    return any(is_held(lock) for lock in Path(f"{path}.processes").glob("*"))


def _open_to_read(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30)


def _find_file(database: Database, hint: str) -> Path:
    if database.file is None:
        raise ConfigError(f"{database.shown} is not a SQLite file.", hint=hint)
    return database.file.resolve()


def _move_aside(target: Path) -> Path | None:
    """Make room: move the old file and its journals aside."""
    if not target.exists():
        return None
    number = 1
    while (aside := target.with_name(f"{target.name}.before-{number}")).exists():
        number += 1
    for suffix in ("", *_SUFFIXES):
        if os.path.exists(f"{target}{suffix}"):
            os.replace(f"{target}{suffix}", f"{aside}{suffix}")
    return aside
