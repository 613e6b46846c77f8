"""The checks of `dovetail doctor` for a service: its database, engine, folders, agent files and keys."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from dovetail.agents.file import list_agent_files, load_definition
from dovetail.app import Dovetail
from dovetail.cli.checks import Check
from dovetail.cli.terminal import open_record, without_logs
from dovetail.concurrency import run_sync
from dovetail.data.private_folder import STATE_FOLDER, find_data_folder
from dovetail.errors import ConfigError, DovetailError
from dovetail.extensions.extension import ExtensionSnapshot
from dovetail.lazy import lazy
from dovetail.settings import Settings
from dovetail.settings.sections import RunSettings, ServerSettings

address = lazy("dovetail.store.address", extra="server")
auth = lazy("dovetail.server.auth", extra="server")
database = lazy("dovetail.store.database", extra="server")
temporal = lazy("dovetail.runs.engines.temporal_server", extra="temporal")

T = TypeVar("T")

LIMIT = 10.0
"""Seconds for a database or an engine to answer."""
_SHOWN_HERE = ("dovetail.extensions.loader", "dovetail.agents.registry")


def check_settings(errors: Sequence[ConfigError]) -> Iterator[Check]:
    """The invalid settings; the checks after it are made without them."""
    for error in errors:
        yield Check("missing", "settings", error.message, error.hint or "")
    if not errors:
        yield Check("ok", "settings", "every setting is known and valid")


def check_service(workspace: Path, settings: Settings) -> Iterator[Check]:
    """Everything that `dovetail serve` and `dovetail worker` need in this workspace."""
    app = Dovetail(settings, workspace=workspace)
    yield check_folder(workspace / STATE_FOLDER, "Run dovetail as the owner of the folder.")
    yield check_folder(find_data_folder(), "Set DOVETAIL_DATA to a folder that you can write to.")
    yield _guard("database", lambda: check_database(app))
    yield _guard("engine", lambda: check_engine(app))
    yield from _guard_all("extensions", lambda: check_extensions(app))
    yield from _guard_all("agents", lambda: check_agents(app))
    yield _guard("keys", lambda: check_keys(app))


def check_folder(folder: Path, hint: str) -> Check:
    """A folder of data, which must be writable, or its nearest parent that exists."""
    there = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
    try:
        with TemporaryDirectory(prefix=".dovetail-", dir=there):  # the right to write is not enough in /proc
            return Check("ok", "data", f"{there} is writable")
    except OSError as error:
        shown = f"{there} is not writable" if there == folder else f"{folder} cannot be made"
        return Check("missing", "data", f"{shown}: {error.strerror}", hint)


def check_database(app: Dovetail) -> Check:
    """The database of sessions and runs, and whether its tables are those of this version."""
    store = database.Database(app.store_url)
    version: Any = _wait(store.look())
    if version is None:
        return Check("ok", "database", f"{store.shown} is empty; the first start creates its tables")
    if version == address.HEAD:
        return Check("ok", "database", f"{store.shown}, version {version}")
    if version < address.HEAD:
        text = f"{store.shown} has version {version}; the next start migrates it to {address.HEAD}"
        return Check("note", "database", text, "Back it up first: dovetail store backup FILE")
    text = f"{store.shown} has a newer version ({version}) than this program supports ({address.HEAD})"
    return Check("missing", "database", text, "Update dovetail, or use another database.")


def check_engine(app: Dovetail) -> Check:
    """The engine that starts runs and takes them up."""
    settings = app.settings.section(RunSettings)
    if settings.engine == "temporal":
        _wait(temporal.TemporalServer.connect(settings))
        return Check("ok", "engine", f"Temporal at {settings.temporal_address}")
    if settings.engine == "dbos":
        store = database.Database(settings.dbos_url or app.store_url)
        if store.is_sqlite:
            return Check("ok", "engine", "DBOS on SQLite: one process only")
        _wait(store.look())
        return Check("ok", "engine", f"DBOS at {store.shown}")
    return Check("ok", "engine", "local: runs are worked on where they are started")


def check_extensions(app: Dovetail) -> Iterator[Check]:
    """The extension folders, loaded as a server does."""
    snapshot = _load(app)
    for failure in snapshot.failed_extensions:
        place = failure.extension if failure.line is None else f"{failure.extension}, line {failure.line}"
        yield Check("missing", "extensions", f"{place}: {failure.error}", "dovetail ext check")
    if loaded := snapshot.loaded_extensions:
        yield Check("ok", "extensions", f"{len(loaded)} loaded: {', '.join(loaded)}")


def check_agents(app: Dovetail) -> Iterator[Check]:
    """The agent files: broken ones, and those that a server with API keys ignores."""
    has_keys = bool(app.settings.section(ServerSettings).api_keys)
    record = open_record(app.workspace) if has_keys else None
    sound = 0
    for path in list_agent_files(app.workspace / "agents"):
        place = path.relative_to(app.workspace)
        try:
            load_definition(path)
            sound += 1
        except ConfigError as error:
            yield Check("missing", "agents", error.message, error.hint or f"dovetail agents check {place}")
            continue
        try:
            if record is not None:
                record.check(path, path.read_bytes())
        except ConfigError as error:
            yield Check("note", "agents", f"{place} is ignored: {error.message}", error.hint or "")
    if sound:
        yield Check("ok", "agents", f"{sound} agent file{'' if sound == 1 else 's'} can be read")


def check_keys(app: Dovetail) -> Check:
    """The API keys, and the token of administrators."""
    settings = app.settings.section(ServerSettings)
    if not settings.api_keys:
        return Check("ok", "keys", "no API keys: the server answers this machine only")
    owners = sorted(set(auth.parse_api_keys(settings.api_keys).values()))
    text = f"{len(owners)} owner{'' if len(owners) == 1 else 's'}: {', '.join(owners)}"
    if settings.admin_token:
        return Check("ok", "keys", text)
    hint = "Set EXTENSIONS_ADMIN_TOKEN to reload folders, edit policy.toml and see other owners over HTTP."
    return Check("note", "keys", f"{text}; no admin token is set", hint)


def _load(app: Dovetail) -> ExtensionSnapshot:
    async def load() -> ExtensionSnapshot:  # without the app, which a broken file of keys keeps from opening
        try:
            return await app.extensions.reload()
        finally:
            await app.extensions.close()

    with without_logs(*_SHOWN_HERE):
        return run_sync(load())


def _guard(subject: str, check: Callable[[], Check]) -> Check:
    """Return what a check reports; its error is a line of the report."""
    try:
        return check()
    except TimeoutError:
        return Check("missing", subject, f"connection timed out after {LIMIT:g} seconds")
    except (DovetailError, ImportError) as error:
        message, _, hint = str(error).partition("\n")
        return Check("missing", subject, message, hint.strip())


def _guard_all(subject: str, check: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    try:
        yield from check()
    except DovetailError as error:
        yield Check("missing", subject, error.message, error.hint or "")


def _wait(work: Coroutine[Any, Any, T]) -> T:
    async def limited() -> T:
        async with asyncio.timeout(LIMIT):
            return await work

    return run_sync(limited())
