"""Sessions of PostgreSQL: the server itself ends those of a client that stopped, and frees its locks."""

import logging
from typing import Any

logger = logging.getLogger(__name__)
LONGEST_PAUSE = 10.0
"""Seconds that a transaction may wait for its next statement: its locks hold up all other processes."""
_SET = """
    SELECT name, set_config(name, given.setting, false)
    FROM unnest($1::text[], $2::text[]) AS given (name, setting) JOIN pg_settings USING (name)
"""
_KEEPALIVES = {
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
"""How the server notices within half a minute that the other machine is gone."""


async def configure_session(connection: Any, *, lease: float | None = None) -> None:
    """Let the server notice that this client is gone; one with a lease must show itself within its seconds.

    Settings that an older server does not have are left out.
    """
    settings = {**_KEEPALIVES, "idle_in_transaction_session_timeout": _to_milliseconds(LONGEST_PAUSE)}
    if lease is not None:
        settings["idle_session_timeout"] = _to_milliseconds(lease)
    known = {row[0] for row in await connection.fetch(_SET, list(settings), list(settings.values()))}
    if lease is not None and "idle_session_timeout" not in known:
        logger.warning(
            "This PostgreSQL server is older than 14: a process that stops without dying keeps its runs."
        )


def _to_milliseconds(seconds: float) -> str:
    return str(max(1, round(seconds * 1000)))
