"""A library of documents: numbered, found by their words, and cited with a link that leads to the document.

The documents are in `web/documents`, so the server serves them: a link in an answer opens the document.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail import ToolResult
from dovetail.errors import ToolError

DOCUMENTS = Path(__file__).parent / "web" / "documents"
MOST_FOUND = 3


@dataclass(frozen=True)
class Document:
    """A document and the number under which it is cited: its place in the order of file names."""

    number: int
    path: Path

    @property
    def title(self) -> str:
        """The first line."""
        return self.text.partition("\n")[0].lstrip("# ")

    @property
    def text(self) -> str:
        """The whole text."""
        return self.path.read_text(encoding="utf-8").strip()

    @property
    def citation(self) -> str:
        """The number as a link, ready to be put into an answer."""
        return f"[[{self.number}]](/ext/library/current/documents/{self.path.name})"


def list_documents() -> list[Document]:
    """Return all documents."""
    return [Document(number, path) for number, path in enumerate(sorted(DOCUMENTS.glob("*.md")), start=1)]


def split_passages(document: Document) -> Iterator[str]:
    """Yield the paragraphs of a document, without its title and its origin."""
    yield from (" ".join(part.split()) for part in document.text.split("\n\n")[2:])


def open_index(documents: list[Document]) -> sqlite3.Connection:
    """Return a search index of all passages; it is small enough to build for each search."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE passages USING fts5(number UNINDEXED, title, text, tokenize='porter')"
    )
    rows = [(each.number, each.title, passage) for each in documents for passage in split_passages(each)]
    connection.executemany("INSERT INTO passages VALUES (?, ?, ?)", rows)
    return connection


def find_facts(question: str) -> ToolResult:
    """Return the passages that fit a question best, each with the citation of its document."""
    documents = list_documents()
    words = " OR ".join(f'"{word}"' for word in re.findall(r"\w{3,}", question))
    query = (
        "SELECT number, text FROM passages WHERE passages MATCH ? ORDER BY bm25(passages, 0, 2, 1) LIMIT ?"
    )
    with closing(open_index(documents)) as connection:
        found: list[tuple[int, str]] = connection.execute(query, [words or '""', MOST_FOUND]).fetchall()
    if not found:
        raise ToolError(
            f"Nothing in the library fits {question!r}. Try other words, or say that nothing was found."
        )
    passages = [_show(documents[number - 1], text) for number, text in found]
    read = "\n".join(f"{each['title']}: {_cite(each['text'], each['citation'])}" for each in passages)
    return ToolResult(read, return_display=passages, data=passages)


def _cite(passage: str, citation: str) -> str:
    """Return a passage with its citation in every sentence: what a small model copies, it cites."""
    return re.sub(r"\.(?=\s|$)", f" {citation}.", passage)


def _show(document: Document, passage: str) -> dict[str, str]:
    return {"title": document.title, "text": passage, "citation": document.citation}


def list_library() -> ToolResult:
    """Return what there is to read."""
    listed = [{"title": each.title, "citation": each.citation} for each in list_documents()]
    read = "\n".join(f"- {each['title']} {each['citation']}" for each in listed)
    return ToolResult(read, return_display=listed, data=listed)


TOOLS: list[dict[str, Any]] = [
    {
        "label": "library",
        "name": "find_facts",
        "title": "Find facts",
        # What the documents are about comes first: small models choose a tool by the first 100 characters.
        "description": "Find facts about street trees: costs, heat, storms, species, watering, plans. "
        "Returns passages, each with its citation.",
        "kind": "search",
        "parameters": {"question": {"type": "string", "description": "What to find out", "required": True}},
        "execute": find_facts,
    },
    {
        "label": "library",
        "name": "list_library",
        "title": "List the library",
        "description": "List all documents of the library with their titles and citations.",
        "kind": "read",
        "parameters": {},
        "execute": list_library,
    },
]
