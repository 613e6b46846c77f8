"""Brings a database to the form that this version needs."""

from pathlib import Path
from typing import Any

import sqlalchemy as sa

from dovetail.errors import ConfigError
from dovetail.lazy import lazy

alembic_command = lazy("alembic.command")
alembic_config = lazy("alembic.config")

HEAD = "0001"
"""The newest step; a test holds it to the steps that there are."""

_LOCK = 0x0D0E7A11
_STEPS = Path(__file__).parent / "migrations"


def migrate(connection: sa.Connection) -> None:
    """Take all steps that the database has not taken; several processes may try at once."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    found = read_version(connection)
    if found == HEAD:
        return
    if found is not None and found > HEAD:
        raise ConfigError(
            f"the database is of a newer version ({found}) than this program knows ({HEAD})",
            hint="Update dovetail, or use another database.",
        )
    alembic_command.upgrade(make_config(connection), "head")


def read_version(connection: sa.Connection) -> str | None:
    """The last step that the database has taken; None for an empty one."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()


def make_config(connection: sa.Connection) -> Any:
    """Alembic's settings, for our steps on this connection."""
    config = alembic_config.Config()
    config.set_main_option("script_location", str(_STEPS))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
