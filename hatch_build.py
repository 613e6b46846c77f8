"""Add the web client, extension folders, agent files, prompts and templates to the wheel."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED = {
    "web/dist": "web",
    "extensions": "extensions",
    "agents": "agents",
    "prompts": "prompts",
    "templates": "templates",
}


class ShippedFiles(BuildHookInterface[Any]):
    """Adds each folder of `SHIPPED` that exists; an editable install reads them from the repository."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Map the source folders into `dovetail/assets`."""
        if version == "editable":
            return
        for source, name in SHIPPED.items():
            folder = Path(self.root) / source
            if folder.is_dir():
                build_data["force_include"][str(folder)] = f"dovetail/assets/{name}"
