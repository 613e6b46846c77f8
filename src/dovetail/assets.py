"""Finds what ships with the package: web client, extension folders, agent files, prompts and templates."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_REPOSITORY = _PACKAGE.parent.parent
_SOURCES = {
    "web": "web/dist",
    "extensions": "extensions",
    "agents": "agents",
    "prompts": "prompts",
    "templates": "templates",
}


def find_assets(name: str) -> Path | None:
    """The folder of a shipped part: inside the installed package, or in the repository."""
    for folder in (_PACKAGE / "assets" / name, _REPOSITORY / _SOURCES[name]):
        if folder.is_dir():
            return folder
    return None
