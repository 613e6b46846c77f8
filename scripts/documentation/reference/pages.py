"""All generated pages of docs/reference."""

from collections.abc import Iterator
from pathlib import Path

from documentation.reference import chunks, cli, events, http, python
from documentation.stage import DOCS

FOLDER = DOCS / "reference"


def make_all() -> dict[Path, str]:
    """Return the text of each page by its path."""
    pages = {
        "cli.md": cli.write(),
        "http.md": http.write(),
        "events.md": events.write(),
        "chunks.md": chunks.write(),
    }
    names = {f"python/{name}": text for name, text in python.write_all().items()}
    return {FOLDER / name: text for name, text in (pages | names).items()}


def write_all() -> Iterator[Path]:
    """Write the pages, and delete those of packages that are not public any more."""
    pages = make_all()
    for path in FOLDER.rglob("*.md"):
        if path not in pages and path.name != "index.md":
            path.unlink()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        yield path
