"""Models in GGUF files on this machine: found by path or by name, described by their headers.

A name is a file's name without `.gguf`; a file is looked for in the cache folder and in `model.folders`. A
model in several parts (`x-00001-of-00003.gguf`) is one model, named without the part's number.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from dovetail.data.shapes import is_number
from dovetail.data.text import explain_unknown
from dovetail.errors import ConfigError, ModelError
from dovetail.requesters.local.gguf import Header, read_header
from dovetail.requesters.local.weights import CATALOGUE, cache_folder, find_entry, require

SUFFIX = ".gguf"
PART = re.compile(r"-(\d{5})-of-(\d{5})$")
CHOOSES_TOOLS = 1_000_000_000
"""Parameters from which a model is asked to choose between tools."""
LARGEST_CONTEXT = 32_768
"""Tokens of context without a setting, if the model and the memory allow it."""
SMALLEST_CONTEXT = 2048
SHARE_OF_MEMORY = 4
"""The context takes at most this part of the machine's memory: one fourth."""
SAMPLING = {"temperature": 0.2, "top_p": 0.9}
SAMPLING_KEYS = {"temp": "temperature", "top_p": "top_p", "top_k": "top_k", "min_p": "min_p"}
"""Options that a file may recommend in `general.sampling.*`, and their names in requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """A model in a GGUF file, or in several; `path` is the first of them."""

    path: Path
    header: Header
    size: int

    @property
    def title(self) -> str:
        """The model's own name, or the file's."""
        return self.header.title or name_file(self.path)

    @property
    def chooses_tools(self) -> bool:
        """Whether the model is large enough to choose between tools."""
        return self.header.parameters >= CHOOSES_TOOLS

    @property
    def sampling(self) -> Mapping[str, Any]:
        """The options that the file recommends, or moderate ones."""
        given = {
            name: self.header.metadata.get(f"general.sampling.{key}") for key, name in SAMPLING_KEYS.items()
        }
        return {name: value for name, value in given.items() if is_number(value)} or SAMPLING

    def choose_context(self, wanted: int | None = None, memory: int | None = None) -> int:
        """Return the tokens of context: as many as wanted, or as fit into the memory in bytes."""
        trained = self.header.context_length or SMALLEST_CONTEXT
        if wanted is not None:
            return min(wanted, trained)
        per_token = self.header.bytes_per_token
        room = (memory or count_memory()) // SHARE_OF_MEMORY // per_token if per_token else LARGEST_CONTEXT
        return min(trained, LARGEST_CONTEXT, max(room, SMALLEST_CONTEXT))


def locate(name: str, folders: Sequence[str] = (), *, later: bool = False) -> Path:
    """Return the weights file that `local:<name>` means: of the catalogue, at a path, or with that name.

    With `later` a model of the catalogue need not be downloaded yet.
    """
    if name in CATALOGUE:
        return require(name, later=later)
    if is_path(name):
        return _first_part(Path(name).expanduser().absolute())
    found = [path for path in iterate_files(folders) if name_file(path) == name.removesuffix(SUFFIX)]
    if len(found) > 1:
        paths = ", ".join(map(str, found))
        raise ConfigError(f"Several files are named {name!r}: {paths}.", hint="Use a path: local:<path>")
    if not found:
        names = [*CATALOGUE, *(name_file(path) for path in iterate_files(folders))]
        raise ConfigError(
            explain_unknown("embedded model", name, names),
            hint="Name a GGUF file by its path (local:/path/to/model.gguf), or add its folder to "
            "model.folders.",
        )
    return found[0]


def is_path(name: str) -> bool:
    """Return whether the name of a model is the path of a file."""
    return (
        "/" in name
        or os.sep in name
        or name.startswith("~")
        or (name.endswith(SUFFIX) and Path(name).exists())
    )


def iterate_files(folders: Sequence[str] = ()) -> Iterator[Path]:
    """Yield the models' files in the cache folder and in `folders` at any depth, except the catalogue's."""
    seen: set[Path] = set()
    for folder in [cache_folder(), *(Path(each).expanduser().absolute() for each in folders)]:
        for path in _walk(folder):
            part = PART.search(path.stem)
            is_first = part is None or int(part[1]) == 1
            if is_first and path not in seen and find_entry(path) is None:
                seen.add(path)
                yield path


def _walk(folder: Path) -> list[Path]:
    """Return the model files below a folder; a folder that a download removes just then is passed over."""
    return sorted(
        Path(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(SUFFIX)
    )


def has_name(name: str, folders: Sequence[str] = ()) -> bool:
    """Return whether a file in the cache folder or in `folders` has this name."""
    return any(name_file(path) == name for path in iterate_files(folders))


def list_models(folders: Sequence[str] = ()) -> Iterator[tuple[str, ModelFile]]:
    """Yield the names and models of the files that hold a chat model; others are left out."""
    for path in iterate_files(folders):
        try:
            yield name_file(path), read_model(path)
        except ModelError:
            continue


def name_file(path: Path) -> str:
    """Return the name of the model in a file: without the suffix and without the number of the part."""
    return PART.sub("", path.stem)


def read_model(path: Path) -> ModelFile:
    """Read the headers of all parts of a model; raise `ModelError` if it cannot be used."""
    parts = _list_parts(path)
    states = tuple((str(part), _get_state(part)) for part in parts)
    return _read_parts(states)


@lru_cache(maxsize=64)
def _read_parts(states: Sequence[tuple[str, tuple[int, int]]]) -> ModelFile:
    # The arguments hold sizes and times, so a changed file is read again.
    headers = [read_header(Path(path)) for path, _ in states]
    header = replace(headers[0], parameters=sum(each.parameters for each in headers))
    path = Path(states[0][0])
    if not header.is_chat_model:
        kind = header.metadata.get("general.type", "model")
        raise ModelError(
            f"{str(path)!r} is not a chat model: it holds a {kind} of architecture {header.architecture!r}.",
            provider="local",
        )
    return ModelFile(path=path, header=header, size=sum(state[0] for _, state in states))


def _get_state(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0  # reading it says what is wrong
    return status.st_size, status.st_mtime_ns


def _first_part(path: Path) -> Path:
    return _list_parts(path)[0]


def _list_parts(path: Path) -> list[Path]:
    part = PART.search(path.stem)
    if part is None:
        return [path]
    stem, count = path.stem[: part.start()], int(part[2])
    return [path.with_name(f"{stem}-{number:05}-of-{count:05}{SUFFIX}") for number in range(1, count + 1)]


CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""Where Linux says how much memory the processes of a container may use."""


def count_memory() -> int:
    """Return the bytes of memory of this machine or container; 8 GB if unknown."""
    try:
        installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        installed = 8_000_000_000
    try:
        return min(installed, int(CONTAINER_LIMIT.read_text()))
    except (OSError, ValueError):  # not in a container, or one without a limit: "max"
        return installed
