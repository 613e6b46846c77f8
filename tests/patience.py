"""How long a test waits for something that must happen before it calls it missing."""

import os

from dovetail.requesters import windows
from dovetail.requesters.http import requester
from dovetail.testing import server
from dovetail.tools import preview
from dovetail.tools.mcp import settings as mcp_settings

PATIENCE = 300.0
"""Seconds. A guard against a hang, never part of what a test asserts: a busy machine is slow."""


def be_patient() -> None:
    """Give that time to what the product leaves out or gives up after a few seconds, in this process.

    The import of an extension folder has it in the programs that are started, too.
    """
    os.environ["EXTENSION_IMPORT_LIMIT"] = str(PATIENCE)
    mcp_settings.PATIENCE = PATIENCE
    preview.SECONDS = PATIENCE
    requester.MODELS_LIMIT = PATIENCE
    server.START_LIMIT = PATIENCE
    windows.PATIENCE = PATIENCE
