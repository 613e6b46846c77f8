"""Database URLs, as people and hosting providers write them, and migrations to the newest version."""

import re
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

from dovetail.data.text import explain_choices
from dovetail.errors import ConfigError
from dovetail.lazy import lazy

alembic_command = lazy("alembic.command")
alembic_config = lazy("alembic.config")

HEAD = "0006"
"""The newest migration; a test compares it with the files."""

_LOCK = 0x0D0E7A11
_STEPS = Path(__file__).parent / "migrations"
_DRIVERS = {
    "sqlite": "sqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
}
_HINT = "DATABASE_URL looks like postgresql://user:password@host/name or sqlite:///path/file.db."
_OF_LIBPQ = ("channel_binding", "connect_timeout", "gssencmode", "keepalives", "keepalives_idle")
"""Options for libpq: our driver would pass them to the server, which rejects them."""


def parse_address(address: str | Path) -> sa.URL:
    """Return the URL of a database; a path is that of an SQLite file."""
    text = str(address)
    if "://" not in text:
        if isinstance(address, str) and not re.search(r"[/\\.:]", text):
            raise ConfigError(f"Invalid database URL {text!r}.", hint=_HINT)
        return sa.URL.create(_DRIVERS["sqlite"], database=text)
    scheme, rest = text.split("://", 1)
    backend = scheme.split("+")[0]
    if backend not in _DRIVERS:
        raise ConfigError(explain_choices("database kind", backend, sorted(_DRIVERS)), hint=_HINT)
    try:
        url = sa.make_url(f"{_DRIVERS[backend]}://{rest}")
    except (ArgumentError, ValueError) as error:
        hidden = re.sub(r"^.*@", "***@", rest)
        raise ConfigError(f"Invalid database URL {backend}://{hidden}: {error}", hint=_HINT) from error
    if url.host and "@" in url.host:
        raise ConfigError(
            "Invalid database URL: the user or the password contains an @.", hint="Write it as %40."
        )
    return url if backend == "sqlite" else _translate(url)


def show_address(url: sa.URL) -> str:
    """Return the URL as people write it, without password and driver."""
    if url.get_backend_name() == "sqlite":
        return f"sqlite:///{url.database or ''}"
    return url.set(drivername=url.get_backend_name()).render_as_string(hide_password=True)


def to_asyncpg(url: sa.URL) -> str:
    """Return the URL of a PostgreSQL database for asyncpg, which reads `sslmode` and the like itself."""
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def _translate(url: sa.URL) -> sa.URL:
    """Return the URL with options that our driver knows."""
    mode = url.query.get("ssl")
    if isinstance(mode, str) and "sslmode" not in url.query:
        url = url.update_query_dict({"sslmode": mode})
    return url.difference_update_query(("ssl", *_OF_LIBPQ))


def migrate(connection: sa.Connection) -> None:
    """Apply all migrations that the database lacks; several processes may try at once."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    found = read_version(connection)
    if found == HEAD:
        return
    if found is not None and found > HEAD:
        raise ConfigError(
            f"The database has a newer version ({found}) than this program supports ({HEAD}).",
            hint="Update dovetail, or use another database.",
        )
    alembic_command.upgrade(make_config(connection), "head")


def read_version(connection: sa.Connection) -> str | None:
    """Return the version of the database; None if it is empty."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()


def make_config(connection: sa.Connection) -> Any:
    """Return Alembic's configuration for our migrations on this connection."""
    config = alembic_config.Config()
    config.set_main_option("script_location", str(_STEPS))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
