"""The site for language models: `llms.txt`, an index of the pages, and each page as Markdown."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

SECTIONS = {
    "First hour": ("index.md", "tour/*.md"),
    "How-to": ("howto/*.md",),
    "Guides": ("*.md",),
    "Concepts": ("concepts/*.md",),
    "Migration": ("migrate/*.md",),
    "Reference": ("reference/*.md", "reference/python/*.md"),
}
"""The parts of the index, with the pages of each; a page stands in the first part that names it."""

HEAD = """\
# Dovetail

> Build, run and serve AI agents in Python: typed answers that stream field by field, tools that are folders
> edited while the service runs, approvals, and runs that survive a crash. A model is embedded.

The package is `dovetail-agents`, imported as `dovetail`; `make wheel` in a clone builds it.
`Agent(...).input(q).returns(Model).start()` asks once and returns a validated object;
`Agent(tools=[...]).run(task).text` works turn after turn with tools.
"""

_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^ *(`{3,}|~{3,}).*?^ *\1[`~]*$", re.MULTILINE | re.DOTALL)
_SUMMARY = re.compile(r"^[\w`*“([][^\n]*(?:\n[^\n]+)*", re.MULTILINE)
_FULL_STOP = re.compile(r"(?<=\.)(?<!e\.g\.)(?<!i\.e\.)\s")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def write_for_models(pages: Path, site: Path) -> None:
    """Copy the staged pages into the site as Markdown, and write the index of them."""
    parts = [HEAD]
    for title, found in _sort(pages):
        parts.append(f"\n## {title}\n\n" + "".join(_describe(page, pages) for page in found))
    for page in pages.rglob("*.md"):
        target = site / page.relative_to(pages)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, target)
    (site / "llms.txt").write_text("".join(parts), encoding="utf-8")


def _sort(pages: Path) -> Iterator[tuple[str, list[Path]]]:
    seen: set[Path] = set()
    for title, patterns in SECTIONS.items():
        found = [page for pattern in patterns for page in sorted(pages.glob(pattern)) if page not in seen]
        seen.update(found)
        if found:
            yield title, found


def _describe(page: Path, pages: Path) -> str:
    """Return the line of a page: its title, where it is, and its first sentence."""
    text = page.read_text(encoding="utf-8")
    title = _TITLE.search(text)
    name = title[1] if title else page.stem
    summary = _SUMMARY.search(_FENCED.sub("", text[title.end() if title else 0 :]))
    first = _FULL_STOP.split(" ".join(summary[0].split()))[0] if summary else ""
    about = ": " + re.sub(":$", ".", _LINK.sub(r"\1", first)) if first else ""
    return f"- [{name}]({page.relative_to(pages).as_posix()}){about}\n"
