"""Copies docs/ for one language of the site.

- `page.zh.md` replaces `page.md` in the Chinese copy; a page without a translation stays English and says so.
- A link that leaves docs/ works on the forge, but a site has only its pages: the linked file becomes a page
  below `repository/`, a folder a page with the list of its files.
- A folder without `index.md` gets one that lists its pages. `<!-- pages: tour -->` lists those of docs/tour;
  other comments, which only tests read, are left out.
"""

import ast
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from documentation.anchors import keep_anchors
from documentation.languages import LANGUAGES, Language

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAVIGATION = ".nav.yml"
ASSETS = Path(__file__).parent / "theme" / "assets"
LOGO = ROOT / "web" / "public" / "favicon.svg"

OUTSIDE = Path("repository")
"""The folder of the site with pages for files outside of docs/."""

ALWAYS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "extensions/README.md")
"""Files outside of docs/ that are pages of the site even if no page links to them."""

PICTURES = {".png", ".svg", ".jpg", ".gif", ".webp"}

_SUFFIX = re.compile(rf"(?:{'|'.join(re.escape(one.suffix) for one in LANGUAGES if one.suffix)})(?=\.\w+$)")
_HEADING = re.compile(r"\A# (?P<title>.*)\n")
_SUMMARY = re.compile(r"\A# [^\n]*\n+(?P<summary>[\w“(「`].*?(?:[.:](?=\s)|[。：]))", re.DOTALL)
_LISTING = re.compile(r"\s*pages: (?P<folder>\w+)\s*")
_PIECE = re.compile(
    r"^(?P<fence> *(?:`{3,}|~{3,})).*?^(?P=fence)$"
    r"|^(?P<nested> {2,3})(?=[-*] )"
    r"|(?P<code>`+)[^`].*?(?P=code)(?!`)"
    r"|<!--(?P<comment>.*?)-->"
    r"|(?<=[\u3000-\u9fff\uff00-\uffef])(?P<break>\n)(?=[\u3000-\u9fff\uff00-\uffef])"
    r"|\]\((?!\w+:|#)(?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Stage:
    """The copy of the pages for one language."""

    language: Language
    target: Path
    root: Path = ROOT
    """The repository, with docs/ in it."""
    _placed: set[Path] = field(default_factory=set[Path])

    @property
    def docs(self) -> Path:
        """The folder with the pages."""
        return self.root / "docs"

    def fill(self) -> None:
        """Write all pages, pictures and assets below the target."""
        shutil.rmtree(self.target, ignore_errors=True)
        for source in sorted(self.docs.rglob("*")):
            if source.is_dir():
                self._place_index(source)
            elif not _SUFFIX.search(source.name):
                self._place_document(source)
        for source in (self.root / name for name in ALWAYS):
            if source.exists():
                self._place_outside(source)
        shutil.copytree(ASSETS, self.target / "assets")
        shutil.copy(LOGO, self.target / "assets" / "logo.svg")

    def _place_document(self, source: Path) -> None:
        place = source.relative_to(self.docs)
        original, source = source, self._translate(source)
        if source.suffix == ".md":
            text = self._rewrite(source, place)
            if source != original:
                text = keep_anchors(text, original.read_text(encoding="utf-8"))
            elif self.language.suffix:
                text = _HEADING.sub(lambda heading: f"{heading[0]}\n{self.language.untranslated}", text)
            self._write(place, text)
        elif source.name == NAVIGATION:
            navigation = self.language.translate(yaml.safe_load(source.read_text(encoding="utf-8")))
            self._write(place, yaml.safe_dump(navigation, allow_unicode=True))
        else:
            self._write(place, source.read_bytes())

    def _place_index(self, folder: Path) -> None:
        listing = "".join(self._list_pages(folder, folder))
        if listing and not (folder / "index.md").exists():
            place = folder.relative_to(self.docs)
            title = self._find_title(place.as_posix()) or folder.name.capitalize()
            self._write(place / "index.md", f"# {self.language.translate(title)}\n\n{listing}")

    def _find_title(self, folder: str) -> str | None:
        """Return the title of a folder in the navigation."""
        navigation = self.docs / NAVIGATION
        text = navigation.read_text(encoding="utf-8") if navigation.exists() else ""
        found = re.search(rf"(\w[\w -]*): {re.escape(folder)}\b", text)
        return found[1] if found else None

    def _list_pages(self, folder: Path, below: Path) -> Iterator[str]:
        """Return a link to each page of a folder, with the page's first sentence."""
        for page in sorted(folder.glob("*.md")):
            if page.name != "index.md" and not _SUFFIX.search(page.name):
                text = self._translate(page).read_text(encoding="utf-8")
                title, summary = _HEADING.match(text), _SUMMARY.match(text)
                link = f"[{title['title'] if title else page.stem}]({_relative(page, below)})"
                yield f"- **{link}**  \n  {' '.join(summary['summary'].split()) if summary else ''}\n"

    def _translate(self, source: Path) -> Path:
        translation = source.with_name(f"{source.stem}{self.language.suffix}{source.suffix}")
        return translation if translation.exists() else source

    def _rewrite(self, source: Path, place: Path) -> str:
        """Return the page's text with links that lead to pages of this language."""

        def replace(piece: re.Match[str]) -> str:
            if piece["comment"] is not None:
                listing = _LISTING.fullmatch(piece["comment"])
                if listing is None:
                    return "\n" * piece["comment"].count("\n")
                cards = "".join(self._list_pages(self.docs / listing["folder"], source.parent))
                return f'<div class="grid cards" markdown>\n\n{cards}\n</div>' if cards else ""
            if piece["path"] is None:
                return (
                    "" if piece["break"] else piece[0]
                )  # a line break within a Chinese sentence is no space
            link = self._resolve(Path(os.path.normpath(source.parent / piece["path"])))
            return f"]({_relative(link, place.parent)}{piece['anchor'] or ''})"

        return _PIECE.sub(replace, source.read_text(encoding="utf-8"))

    def _resolve(self, linked: Path) -> Path:
        """Return the place of a linked file below the target; a missing one is reported by the build."""
        if linked.is_relative_to(self.docs):
            place = linked.relative_to(self.docs)
            return place / "index.md" if linked.is_dir() else Path(_SUFFIX.sub("", str(place)))
        if linked.is_relative_to(self.root) and linked.exists():
            return self._place_outside(linked)
        return Path("missing", os.path.relpath(linked, self.root)).with_suffix(".md")

    def _place_outside(self, source: Path) -> Path:
        name = source.relative_to(self.root)
        place = OUTSIDE / (name if name.suffix in {".md", *PICTURES} else f"{name}.md")
        if place not in self._placed:
            self._placed.add(place)
            if name.suffix in PICTURES:
                self._write(place, source.read_bytes())
            else:
                is_page = name.suffix == ".md"
                self._write(place, self._rewrite(source, place) if is_page else describe_source(source, name))
        return place

    def _write(self, place: Path, content: str | bytes) -> None:
        path = self.target / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def _relative(link: Path, folder: Path) -> str:
    return Path(os.path.relpath(link, folder)).as_posix()


def describe_source(source: Path, name: Path) -> str:
    """Return a page that shows a file, or the names of a folder's files."""
    title = f"---\nsearch:\n  exclude: true\n---\n\n# `{name.as_posix()}`\n\n"
    if not source.is_dir():
        language = source.suffix[1:] or ("docker" if source.name == "Dockerfile" else "text")
        return f"{title}~~~~~~{language}\n{source.read_text(encoding='utf-8').rstrip()}\n~~~~~~\n"
    files = [path for path in sorted(source.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    return title + "".join(f"- `{path.relative_to(source).as_posix()}`{_describe(path)}\n" for path in files)


def _describe(path: Path) -> str:
    """Return the first line of a module's docstring, after a colon."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) if path.suffix == ".py" else None
    return f": {text.splitlines()[0]}" if text else ""
