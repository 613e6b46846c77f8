"""The held-back plain questions stay apart from everything that is tuned on or shown."""

from evals import questions
from evals.plain import held_back, tuning
from evals.plain.__main__ import Answer, interval, sum_up
from evals.plain.question import PlainQuestion
from evals.reality.pages import find_shown


def texts_of(chats: dict[str, list[list[PlainQuestion]]]) -> list[str]:
    return [question.text for found in chats.values() for chat in found for question in chat]


def test_hundred_questions_are_held_back_and_nothing_else_asks_them() -> None:
    held = texts_of(held_back.QUESTIONS)
    others = {*texts_of(tuning.QUESTIONS), *(text for _, text in find_shown())}
    others |= {asked.text for each in (questions.HELD_BACK, questions.TUNING) for asked in each.questions}
    assert len(held) == len(set(held)) == 100
    assert sorted({*held} & others) == []


def test_table_counts_ways_and_compares_their_time() -> None:
    answers = [
        Answer(
            asked="held-back",
            way=way,
            category="arithmetic",
            question=str(number),
            fault="wrong" if way == "http" and number == 0 else "",
            seconds=seconds,
            commit="c",
        )
        for way, seconds in (("bare", 2.0), ("http", 3.0))
        for number in range(4)
    ]
    table = sum_up(answers)
    assert "| arithmetic | 4 of 4 | 3 of 4 |" in table
    assert table[-1] == "| times the bare way | 1.0 | 1.5 |"


def test_interval_is_that_of_wilson() -> None:
    assert interval(90, 100) == "83\u201394 %"
