"""The shop's help articles, found by their words with the full-text search of SQLite."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from dovetail import ToolResult
from dovetail.errors import ToolError

ARTICLES = Path(__file__).parent / "articles"
MOST_FOUND = 2


def open_index() -> sqlite3.Connection:
    """Return a search index of all articles; it is small enough to build for each search."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE articles USING fts5(title, text, tokenize='porter')")
    for path in sorted(ARTICLES.glob("*.md")):
        title, _, text = path.read_text(encoding="utf-8").partition("\n")
        connection.execute("INSERT INTO articles VALUES (?, ?)", [title.lstrip("# "), text.strip()])
    return connection


def search_help(question: str) -> ToolResult:
    """Return the articles that fit a question best."""
    words = " OR ".join(f'"{word}"' for word in re.findall(r"\w{3,}", question))
    query = "SELECT title, text FROM articles WHERE articles MATCH ? ORDER BY bm25(articles, 4) LIMIT ?"
    with closing(open_index()) as connection:
        found = connection.execute(query, [words or '""', MOST_FOUND]).fetchall()
    if not found:
        raise ToolError(f"No help article fits {question!r}. Say that the shop has no rule for this.")
    articles = [{"title": title, "text": " ".join(text.split())} for title, text in found]
    read = "\n".join(f"{article['title']}: {article['text']}" for article in articles)
    return ToolResult(read, return_display=articles, data=articles)


TOOL = {
    "label": "help",
    "name": "search_help",
    "title": "Search the help",
    "description": "Search the shop's help articles: delivery, returns, refunds, care, guarantee, payment. "
    "Returns the articles that fit best.",
    "kind": "search",
    "parameters": {"question": {"type": "string", "description": "What to find out", "required": True}},
    "execute": search_help,
}
