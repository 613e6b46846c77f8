"""Endless repetition is noticed while it streams; texts that repeat on purpose are left alone."""

import json
import random
from collections.abc import Iterator

import pytest

from dovetail.requesters.local.repetition import Repetition


def cut(text: str, size: int = 4) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def read(pieces: Iterator[str]) -> tuple[str, bool, int]:
    """Return what is shown of an answer, whether it was a loop, and how many characters were read."""
    repetition, shown, length = Repetition(), "", 0
    for piece in pieces:
        shown += repetition.feed(piece)
        length += len(piece)
        if repetition.is_loop:
            break
    return shown + repetition.finish(), repetition.is_loop, length


LOOPS = {
    "line": ("Here is your list:\n", "Pack a blanket:\n"),
    "phrase": ("A picnic needs ", "a blanket, a basket and a good friend, "),
    "sentence": ("", "The oak is a tree that grows in the forest. "),
    "paragraph": (
        "Oak is hard.\n\n",
        "Wood has been used for thousands of years. It is strong, light and easy to work with. "
        "Many people like the look of it.\n\n",
    ),
    "json": ('{"items": [', '"Pack a blanket", '),
    "chinese": ("清单\n", "带上一条毯子和水。\n"),
    "greek": ("", "Πάρτε μαζί σας μια κουβέρτα. "),
    "one word": ("The answer is ", "blanket "),
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("size", [1, 3, 4, 7, 12])
def test_a_loop_is_cut_and_shown_at_most_three_times(name: str, size: int) -> None:
    start, unit = LOOPS[name]
    shown, is_loop, length = read(cut(start + unit * 400, size))
    assert is_loop
    assert (start + unit * 400).startswith(shown)
    if name != "one word":
        assert unit.strip() in shown
        assert shown.count(unit.strip()) <= 3
        assert length <= len(start) + max(16 * len(unit), 700) + size


@pytest.mark.parametrize(
    "write", ["{}. Pack a blanket: ", "Step {}: Pack a blanket.\n", "({}) Pack a blanket\n"]
)
def test_the_number_of_an_item_does_not_hide_a_loop(write: str) -> None:
    text = "".join(write.format(number) for number in range(1, 200))
    for size in (1, 3, 5):
        shown, is_loop, length = read(cut(text, size))
        assert is_loop
        assert length < len(text) / 3
        assert shown.count("Pack a blanket") <= 3


def make_board() -> str:
    rows = ",\n".join(f"    [{', '.join(['0'] * 19)}]" for _ in range(19))
    return f"board = [\n{rows},\n]\n"


CODE = """\
import turtle

def draw_octagon():
    turtle.forward(100)
    turtle.left(45)
    turtle.forward(100)
    turtle.left(45)
    turtle.forward(100)
    turtle.left(45)
    turtle.forward(100)
    turtle.left(45)
    turtle.forward(100)
    turtle.left(45)
    turtle.forward(100)
    turtle.left(45)
    turtle.forward(100)
    turtle.left(45)
    turtle.forward(100)
    turtle.left(45)
    turtle.done()
"""
REFRAIN = """\
Row, row, row your boat,
Gently down the stream.
Merrily, merrily, merrily, merrily,
Life is but a dream.

"""
VERSE = "{0} bottles of milk on the wall, {0} bottles of milk.\nTake one down, pass it around.\n\n"
ON_PURPOSE = {
    "board": make_board(),
    "code": CODE,
    "round": REFRAIN * 4,
    "song": "".join(
        f"{name} was a sawyer\n{REFRAIN}" for name in ("Ann", "Ben", "Cy", "Dee", "Eve", "Flo", "Gus")
    ),
    "verses": "".join(VERSE.format(number) for number in range(99, 0, -1)),
    "records": json.dumps(
        [{"id": n, "name": "chisel", "in_stock": True, "width": n * 2} for n in range(80)], indent=2
    ),
    "inserts": "".join(
        f"INSERT INTO stock (id, item, size) VALUES ({n}, 'chisel', {n % 7});\n" for n in range(80)
    ),
    "table": "| number | square |\n|---|---|\n" + "".join(f"| {n} | {n * n} |\n" for n in range(100)),
    "wide table": f"|{'---|' * 120}\n",
    "times table": "".join(f"{n} times 7 is {n * 7}.\n" for n in range(60)),
    "numbers": ", ".join(map(str, range(500))),
    "ones": "1, " * 200,
    "rule": "=" * 300,
    "tests": "".join(f"def test_{n}():\n    assert add({n}, 1) == {n + 1}\n\n" for n in range(60)),
    "laughter": "ha" * 100,
    "markup": "".join(f'<option value="{n}">Year {n}</option>\n' for n in range(1950, 2030)),
    "log": "".join(f"10:{n:02}:00 INFO served /api/v1/chat in {n * 3} ms\n" for n in range(60)),
    "spiral": "".join(f"turtle.forward({n})\nturtle.left(90)\n" for n in range(0, 200, 5)),
    "chess": ("rnbqkbnr pppppppp " * 2 + "........ " * 4) * 3,
}


SMALL = """\
1. Pack a variety of food and drinks to cater to different dietary preferences and restrictions.
2. Pack a variety of food items to cater to different tastes and dietary restrictions.
3. Pack a variety of utensils and supplies to cater to different tastes and dietary restrictions.
"""
ITEM = (
    "{}. Pack a variety of toiletries and personal care items "
    "to cater to different tastes and dietary restrictions.\n"
)


def test_what_the_small_model_wrote_for_a_packing_list_is_cut_after_the_first_copies() -> None:
    text = SMALL + "".join(ITEM.format(number) for number in range(4, 40))
    shown, is_loop, length = read(cut(text))
    assert is_loop
    assert shown.startswith(SMALL + ITEM.format(4))
    assert shown.count("toiletries") <= 3
    assert length < len(SMALL) + 7 * len(ITEM)


@pytest.mark.parametrize("name", ON_PURPOSE)
@pytest.mark.parametrize("size", [1, 4, 9])
def test_what_repeats_on_purpose_is_shown_whole(name: str, size: int) -> None:
    text = ON_PURPOSE[name]
    assert read(cut(text, size)) == (text, False, len(text))


def test_a_repetition_that_ends_is_shown_whole_after_all() -> None:
    repetition = Repetition()
    line = "We will meet again some day.\n"
    shown = "".join(repetition.feed(piece) for piece in cut(line * 4))
    assert shown.count("We will") < 4
    assert shown + repetition.feed("And then we sing.") == line * 4 + "And then we sing."
    assert repetition.finish() == ""


def test_what_is_held_back_at_the_end_of_an_answer_is_shown() -> None:
    text = "We will meet again some day.\n" * 4
    assert read(cut(text)) == (text, False, len(text))


def test_random_text_in_random_pieces_comes_out_unchanged() -> None:
    chance = random.Random(26)
    words = ["oak", "saw", "1.", "2)", "blanket", "\n", "7", "(3)", "毯子", "x"]
    for _ in range(200):
        text = " ".join(chance.choices(words, k=120))
        pieces: list[str] = []
        while sum(map(len, pieces)) < len(text):
            start = sum(map(len, pieces))
            pieces.append(text[start : start + chance.randint(1, 9)])
        assert read(iter(pieces)) == (text, False, len(text))
