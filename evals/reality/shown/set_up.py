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
        write_files(files or {})(folder)
        if tools:
            master = folder / "agents" / "master.md"
            text = master.read_text(encoding="utf-8")
            master.write_text(text.replace("tools: [", f"tools: [{tools}, ", 1), encoding="utf-8")

    return set_up


def example(name: str) -> SetUp:
    """A copy of a whole example, without what an earlier run left."""

    def set_up(folder: Path) -> None:
        ignored = shutil.ignore_patterns(".dovetail", "*.db*", "__pycache__")
        shutil.copytree(ROOT / "examples" / name, folder, ignore=ignored, dirs_exist_ok=True)

    return set_up


def write_files(files: Mapping[str, str]) -> SetUp:
    """A folder with these files."""

    def set_up(folder: Path) -> None:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return set_up
