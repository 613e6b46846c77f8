"""The files below `web/` of an extension folder: the modules that the page loads, and what they import.

They are read as one consistent copy and addressed by a digest of their contents, so that an address always
means the same code: a module that was changed has another address, in every process.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

WEB = "web"
LARGEST_FILE = 2_000_000
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
    ".md": "text/plain; charset=utf-8",
}
"""The kinds of files that are served, by ending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebFiles:
    """What a folder brings for the page: contents by path below `web/`, and their digest."""

    digest: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    too_large: tuple[str, ...] = ()

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that the page loads: `web/*.js`. Files in folders below are there to be imported."""
        return tuple(name for name in self.files if name.endswith(".js") and "/" not in name)

    @property
    def styles(self) -> tuple[str, ...]:
        """The style sheets that the page links: `web/*.css`."""
        return tuple(name for name in self.files if name.endswith(".css") and "/" not in name)


def has_modules(folder: Path) -> bool:
    """Return whether an extension folder brings a module for the page."""
    return any(path.is_file() for path in (folder / WEB).glob("*.js") if not path.name.startswith("."))


def read_web_files(folder: Path) -> WebFiles:
    """Read the files below `web/` of an extension folder; links that lead out of it are left out."""
    digest = hashlib.sha256()
    files: dict[str, bytes] = {}
    too_large: list[str] = []
    for name, path in _list_files(folder / WEB):
        if path.stat().st_size > LARGEST_FILE:
            too_large.append(name)
            continue
        files[name] = content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return WebFiles(digest=digest.hexdigest()[:16] if files else "", files=files, too_large=tuple(too_large))


def _list_files(web: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files that may be served, with their paths below `web`."""
    if not web.is_dir():
        return
    home = web.resolve()
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home).as_posix()
        if path.suffix not in TYPES or any(
            part.startswith((".", "node_modules")) for part in name.split("/")
        ):
            continue
        if path.is_file() and path.resolve().is_relative_to(home) and name.isprintable():
            yield name, path
