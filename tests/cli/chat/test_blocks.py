"""Markdown is cut into blocks while it arrives, wherever it is cut on its way."""

from hypothesis import given
from hypothesis import strategies as st

from dovetail.cli.chat.blocks import BlockStream, is_table

TEXT = """# Title

A paragraph
of two lines.

- one

  more of it
- two

```python
a = 1

b = 2
```
After.

| a | b |
|---|---|
| 1 | 2 |

> said
The end"""


def cut(text: str, places: list[int]) -> tuple[list[str], str]:
    stream, blocks = BlockStream(), list[str]()
    for start, end in zip([0, *places], [*places, len(text)], strict=True):
        blocks += stream.feed(text[start:end])
    return blocks, stream.finish()


def test_blocks_are_whole_and_the_last_one_stays_open() -> None:
    blocks, rest = cut(TEXT, [])
    assert [block.partition("\n")[0] for block in blocks] == [
        *("# Title", "A paragraph", "- one", "```python", "After.", "| a | b |")
    ]
    assert rest == "> said\nThe end"


@given(st.lists(st.integers(0, len(TEXT)), max_size=8).map(sorted))
def test_the_cuts_of_a_stream_do_not_change_the_blocks(places: list[int]) -> None:
    blocks, rest = cut(TEXT, places)
    assert "".join([*blocks, rest]) == TEXT
    assert [block for block in blocks if "```" in block] == ["```python\na = 1\n\nb = 2\n```\n"]


@given(st.text(alphabet="ab\n-#`>| 1.\u2028\t", max_size=60), st.integers(1, 5))
def test_nothing_is_lost_and_nothing_repeated(text: str, step: int) -> None:
    blocks, rest = cut(text, list(range(step, len(text), step)))
    assert "".join([*blocks, rest]).split() == text.split()


def test_a_paragraph_ends_with_an_empty_line() -> None:
    stream = BlockStream()
    assert stream.feed("Done.\n\n") == ["Done.\n\n"]
    assert stream.tail == ""


def test_a_table_is_known_by_its_beginning() -> None:
    assert is_table("| a |\n|---|\n| 1 |\n")
    assert not is_table("a | b\n")
