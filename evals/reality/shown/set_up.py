"""Folders as a newcomer has them."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from evals.reality.pages import ROOT
from evals.reality.visit import SetUp

DOVETAIL = str(Path(sys.executable).parent / "dovetail")


def project(template: str, *, tools: str = "", files: Mapping[str, str] | None = None) -> SetUp:
    """A new project; `tools` are added to those of its assistant, and files to the folder."""

    def set_up(folder: Path) -> None:
        command = [DOVETAIL, "init", str(folder), "--template", template]
        subprocess.run(command, check=True, capture_output=True)
        _write(folder, files or {})
        if tools:
            master = folder / "agents" / "master.md"
            text = master.read_text(encoding="utf-8")
            master.write_text(text.replace("tools: [", f"tools: [{tools}, ", 1), encoding="utf-8")

    template_folder = ROOT / "templates" / "projects" / template
    return SetUp(set_up, [template_folder, tools, *_list_texts(files or {})])


def new_agent(name: str, files: Mapping[str, str]) -> SetUp:
    """A folder with these files, and the agent that `dovetail agents new` writes."""

    def set_up(folder: Path) -> None:
        _write(folder, files)
        command = [DOVETAIL, "agents", "new", name]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)

    return SetUp(set_up, [ROOT / "templates" / "parts" / "agent.md", name, *_list_texts(files)])


def example(name: str) -> SetUp:
    """A copy of a whole example, without what an earlier run left."""

    def set_up(folder: Path) -> None:
        ignored = shutil.ignore_patterns(".dovetail", "*.db*", "__pycache__")
        shutil.copytree(ROOT / "examples" / name, folder, ignore=ignored, dirs_exist_ok=True)

    return SetUp(set_up, [ROOT / "examples" / name])


def write_files(files: Mapping[str, str]) -> SetUp:
    """A folder with these files."""
    return SetUp(lambda folder: _write(folder, files), _list_texts(files))


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _list_texts(files: Mapping[str, str]) -> list[str]:
    return [part for name, text in files.items() for part in (name, text)]
