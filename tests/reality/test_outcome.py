"""Checks accept what a reader would call right, and nothing that only contains its digits or letters."""

from pathlib import Path

import pytest
from evals.reality.outcome import Call, Outcome, find_fault, matches, only_calls, says_none_of
from evals.reality.shown import VISITS
from evals.reality.shown.projects import names_dovetail, orders_few
from evals.reality.shown.recipes import is_review, prints_beside_logs, sorts_woods, streams
from evals.reality.shown.suggestions import CHECKS, has_names


@pytest.mark.parametrize(
    ("pattern", "right", "wrong"),
    [
        (
            "3|three|三",
            ["There are 3.", "Three chisels", "三把", "3把"],
            ["13 chisels", "30", "3.5", "threefold"],
        ),
        ("10|ten", ["ten", "10 days", "(10)"], ["This often happens", "110", "tension"]),
        ("12|twelve|yes", ["12", "Yes, 12"], ["312", "eyes"]),
        (r"deliver\w*|late", ["the delivery is due", "late"], ["undelivered", "plate"]),
        ("chisels?", ["chisel", "Chisels."], ["chiseled"]),
        (r"9\.60?", ["9.6 euros", "9.60", "It is 9.60."], ["19.60", "9.65", "9.601"]),
        (r"(?:3|4) x oak|\|.*\|", ["13 x oak", "| a |"], ["13 x oaken"]),
        ("Tom", ["Goodbye, Tom!"], ["tomorrow"]),
        ("chêne", ["de chêne"], ["chênes"]),
        ("oak|橡", ["用oak做", "橡木"], ["soak"]),
        ("H2O|H₂O", ["H2O."], ["CH2O"]),
    ],
)
def test_numbers_and_words_are_whole_ones(pattern: str, right: list[str], wrong: list[str]) -> None:
    assert [text for text in right if not matches(pattern, text)] == []
    assert [text for text in wrong if matches(pattern, text)] == []


def test_a_sign_without_emphasis_is_found() -> None:
    assert says_none_of(r"[$€]")(Outcome(text="Only $5!")) is not None


@pytest.mark.parametrize(
    "text",
    [
        "We should order 7 chisels.",
        "There are 3 chisels in stock, which is low. Order 10 more.",
        "The stock of chisels is low (3), so I would order ten.",
        "凿子的库存还有3把。建议订购七把。",
        "凿子还有 3 把。需要订 10 把。",
        "You should order 3 chisels.",
    ],
)
def test_an_order_of_at_most_ten_chisels_is_right(text: str) -> None:
    assert orders_few(Outcome(text=text)) is None


@pytest.mark.parametrize(
    "text",
    [
        "Order 25 planes, stock is 7.",
        "There are 3 chisels in stock.",
        "We have 3 chisels, so there is no need to order.",
        "Order 25 chisels.",
        "Never order more than ten pieces of chisels.",
        "凿子的库存还有3把。要订二十把。",
        "Order twelve chisels.",
        "Chisels are fine. Order 5 saws.",
    ],
)
def test_another_order_is_wrong(text: str) -> None:
    assert orders_few(Outcome(text=text)) is not None


def test_packing_list_has_the_things_that_were_named(tmp_path: Path) -> None:
    file = tmp_path / "packing.md"
    made = Call(tool="write_file", arguments={"path": "packing.md"}, status="ok")
    outcome = Outcome(text="I wrote the packing list.", calls=[made], folder=tmp_path)
    file.write_text("# List\n\n- content\n- mapping\n- socks\n- hat\n")
    assert "tent" in str(find_fault(outcome, CHECKS["write_file"]))
    file.write_text("- Tent\n- Map\n- Torch\n- Raincoat\n- Towel\n")
    assert find_fault(outcome, CHECKS["write_file"]) is None
    file.write_text("# 清单\n- 帐篷\n- 地图\n- 手电筒\n- 雨衣\n- 毛巾\n")
    assert find_fault(outcome, CHECKS["write_file"]) is None


def test_what_is_bought_twice_is_wrong() -> None:
    call = Call(tool="order", arguments={"item": "board", "count": 2}, status="ok")
    failed = Call(tool="order", arguments={"item": "plank"}, status="error")
    assert only_calls("order", item="boards?")(Outcome(calls=[call, failed])) is None
    assert only_calls("order")(Outcome(calls=[call, call])) is not None
    assert only_calls("order", count=3)(Outcome(calls=[call])) is not None


def test_texts_are_read_where_they_are_printed() -> None:
    lines = 'data: {"type":"text-delta","id":"1","delta":"My"}\ndata: {"type":"text-delta","delta":" shop"}'
    assert streams("My shop")(Outcome(text=lines)) is None
    logs = 'dovetail.audit: {"time": 3}\nThere are {}.\nspan: chat 3\n'
    assert prints_beside_logs("3|three")(Outcome(text=logs.replace("{}", "5"))) is not None
    assert prints_beside_logs("3|three")(Outcome(text=logs.replace("{}", "three"))) is None


def test_answers_say_what_was_asked() -> None:
    assert sorts_woods({"oak": "hard", "pine": "Soft.", "balsa": "soft"})
    assert not sorts_woods({"oak": "hard", "pine": "hard, not soft", "balsa": "soft"})
    assert is_review({"score": 7, "verdict": "The text is short."})
    assert not is_review({"score": 70, "verdict": "The text is short."})
    assert not is_review({"score": 7, "verdict": "I cannot help."})
    assert names_dovetail(Outcome(text="It is the Dovetail joint, unlike the finger joint.")) is None
    assert names_dovetail(Outcome(text="The finger joint, not the dovetail joint.")) is not None
    assert has_names(Outcome(text="1. Otter\n2. Heron\n3. Teal")) is None
    assert has_names(Outcome(text="Otter, Otter and Otter")) is not None


def check(place: str, question: str, text: str, call: Call) -> str | None:
    """Return what is wrong with an answer to a question that a place shows."""
    asked = [each for visit in VISITS if visit.place == place for each in visit.questions]
    [found] = [each for each in asked if each.text == question]
    return find_fault(Outcome(text=text, calls=[call]), found.checks)


COSTS = "\npricer 2 turns, cost: 0\nwriter 1 turns, cost: 0\n"


@pytest.mark.parametrize(
    ("place", "question", "right", "wrong"),
    [
        (
            "tools-then-a-typed-answer",
            "What does a chisel cost?",
            "Quote(item='chisel', price=12.5)\n37.5\n",
            "Quote(item='chisel', price=48.0)\n144.0\n",
        ),
        (
            "correct-wrong-answers",
            "Oak has hardness 6",
            "name='Oak' hardness=6\n",
            "name='Pine' hardness=3\n",
        ),
        (
            "why-was-it-slow",
            "How many coats of varnish does a table need?",
            "Usually two to three coats.",
            "I cannot help you with that, sorry.",
        ),
        (
            "typed-hand-over",
            "A chisel",
            f"Dear Ann, a chisel costs 12.50 euros.{COSTS}",
            f"Dear customer, see the offer for the chisel.{COSTS}",
        ),
    ],
)
def test_how_tos_have_one_right_answer(place: str, question: str, right: str, wrong: str) -> None:
    counted = Call(tool="find_price", arguments={"item": "chisel"}, status="ok")
    assert check(f"docs/howto/{place}.md", question, right, counted) is None
    assert check(f"docs/howto/{place}.md", question, wrong, counted) is not None
