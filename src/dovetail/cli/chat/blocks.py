"""Markdown cut into blocks while it arrives.

Promises: the blocks and the tail together are the text that came in, and a block that was returned does not
change any more, whatever follows it.
"""

from functools import lru_cache
from itertools import pairwise

from markdown_it import MarkdownIt

_ENDED_BY_A_BLANK_LINE = ("paragraph_open", "heading_open", "hr")


class BlockStream:
    """Collects text; returns each block of it once the next one has begun, and shows the rest as `tail`."""

    def __init__(self) -> None:
        self.tail = ""

    def feed(self, delta: str) -> list[str]:
        """Take more text; return the blocks that are complete now."""
        self.tail += delta
        if "\n" not in delta:
            return []
        cuts = _find_cuts(self.tail)
        *ended, last = self.tail.split("\n")
        lines = [*(f"{line}\n" for line in ended), last]
        self.tail = "".join(lines[cuts[-1] :])
        return [block for start, end in pairwise(cuts) if (block := "".join(lines[start:end])).strip()]

    def finish(self) -> str:
        """Return the rest, and begin again."""
        rest, self.tail = self.tail, ""
        return rest


def is_table(text: str) -> bool:
    """Whether the text begins with a table, whose columns change with every row."""
    tokens = _parser().parse(text)
    return bool(tokens) and tokens[0].type == "table_open"


def _find_cuts(text: str) -> list[int]:
    """Return the lines where blocks begin, the open one last; 0 is always the first."""
    tops = [token for token in _parser().parse(text) if token.level == 0 and token.map and token.nesting >= 0]
    starts = [token.map[0] for token in tops if token.map]
    cuts = sorted({0, *starts})
    is_ended = text.endswith("\n\n") and tops and tops[-1].type in _ENDED_BY_A_BLANK_LINE
    return [*cuts, text.count("\n")] if is_ended else cuts


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt().enable(["strikethrough", "table"])
