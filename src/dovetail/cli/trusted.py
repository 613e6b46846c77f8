"""Where it is kept which agent files of which folder were acknowledged."""

import os
from pathlib import Path

from dovetail.assets import find_assets
from dovetail.lazy import lazy
from dovetail.subagents.trust import TrustRecord

platformdirs = lazy("platformdirs")


def open_record(workspace: Path) -> TrustRecord:
    """The record for a workspace; agents that ship with the package need nobody's word, nor do those that
    stand beside the code of an extension folder, which runs anyway. `DOVETAIL_DATA` moves the file."""
    chosen = os.environ.get("DOVETAIL_DATA")
    data = Path(chosen).expanduser() if chosen else Path(platformdirs.user_data_dir("dovetail"))
    shipped = [folder for name in ("agents", "extensions") if (folder := find_assets(name))]
    return TrustRecord([*shipped, workspace / "extensions"], data / "trusted_agents.json")
