"""The programs in examples/, and the two whole services."""

import datetime
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing

from evals.reality.outcome import (
    Check,
    Outcome,
    calls,
    either,
    is_text,
    never_calls,
    says,
    says_none_of,
    shorten,
)
from evals.reality.pages import ROOT
from evals.reality.shown.projects import fill
from evals.reality.shown.set_up import example
from evals.reality.visit import Question, Visit

DESK = "examples/support_desk"
LIBRARY = "examples/research_assistant"
TODAY = datetime.date.today()


def program(name: str, *checks: Check, typed: str = "") -> Visit:
    """A program of examples/, run as it is."""
    path = f"examples/{name}"
    question = Question(text=name, checks=checks, typed=typed)
    return Visit(place=path, face="program", program=str(ROOT / path), questions=[question], seconds=300)


def refunded(order: str, amount: float) -> Check:
    """The database of the desk has this refund, and no other."""
    return _compare_refunds(lambda rows: rows[-1:] == [(order, amount)], f"{amount} for {order}")


def not_refunded(order: str) -> Check:
    """The database of the desk has no refund of an order."""
    return _compare_refunds(lambda rows: all(number != order for number, _ in rows), f"none for {order}")


def _compare_refunds(holds: Callable[[list[tuple[str, float]]], bool], wanted: str) -> Check:
    def check(outcome: Outcome) -> str | None:
        with closing(sqlite3.connect(outcome.folder / "data" / "shop.db")) as connection:
            rows = connection.execute("SELECT number, amount FROM refunds ORDER BY id").fetchall()
        return None if holds(rows) else f"refunds are {rows}, not {wanted}; {shorten(outcome.text)}"

    return check


def answers_alike(outcome: Outcome) -> str | None:
    """Three answers that are the same, and one request."""
    fits = re.search(r"^asked 1 time", outcome.text, re.MULTILINE)
    return None if fits else f"asked more than once: {shorten(outcome.text)}"


def is_stream(outcome: Outcome) -> str | None:
    """Lines of JSON that end with the goal."""
    fits = '"text": ' in outcome.text and '"end": "goal"' in outcome.text.splitlines()[-1]
    return None if fits else f"no stream of lines: {shorten(outcome.text)}"


NO_ASK = never_calls("ask_user")


def ask_desk(questions: Sequence[Question]) -> Visit:
    """Questions of the support desk's README."""
    return Visit(place=f"{DESK}/README.md", face="http", set_up=example("support_desk"), questions=questions)


VISITS = [
    program("typed_answer.py", says(r"Ann Smith: (54\.50|102\.50) euros")),
    program("first_field.py", says(r"^-> \S", r"\[ordered: ", r"\n.{20,}"), is_text(15)),
    program("tool.py", calls("count_stock", wood="oak"), says("12|twelve|yes")),
    program("two_agents.py", says("Montag", "planches?"), calls("translate", language="French")),
    program("chat_memory.py", says("Ann"), is_text(4), typed="I am Ann.\nWhat is my name?\n"),
    program(
        "many_questions.py", says(r"^happy: The drawer", r"\nunhappy: Two screws", r"\nhappy: A good table")
    ),
    program("yaml_prompt.py", says("oak|stool"), says_none_of(r"[$€]"), is_text(12)),
    program(
        "approval.py",
        calls("order_boards", wood="oak", count=12),
        says("Orders: 12 x oak"),
        is_text(),
        typed="y\ny\ny\n",
    ),
    program("mcp_server.py", calls("find_price", wood="oak.*"), says("48")),
    program("background.py", calls("researcher"), says("researcher ended: goal"), is_text(8)),
    program(
        "agent_extension.py",
        says(
            rf"{TODAY.isoformat()}|{TODAY.day}(?:st|nd|rd|th)?\W+(?:of )?{TODAY:%B}|{TODAY:%B}\W+{TODAY.day}"
        ),
    ),
    program("requester.py", answers_alike, says(r"wood|balsa|spruce|cedar|bamboo|pine|ash")),
    program("event_encoder.py", is_stream),
    program("spend_limit.py", calls("find_price"), says("pine|max-calls"), says("max-calls: The limit of 3")),
    ask_desk(
        [
            Question(
                text="What did Ann Smith order?",
                checks=[calls("find_orders", search="Ann Smith"), says("stool", "oil"), NO_ASK],
            ),
            Question(
                text="How long does the delivery of furniture take?",
                checks=[calls("search_help"), says("10|ten"), NO_ASK],
            ),
            Question(
                text="The parcel of order A-1002 is lost. Refund 14.50 euros.",
                checks=[
                    calls("refund_order", order="A-1002", amount=14.5),
                    refunded("A-1002", 14.5),
                    is_text(),
                ],
            ),
            Question(
                text="The parcel of order A-1004 is lost. Refund 59 euros.",
                approve=["refund_order"],
                checks=[
                    calls("refund_order", order="A-1004", amount=59),
                    refunded("A-1004", 59.0),
                    is_text(),
                ],
            ),
            Question(
                text="Refund the kitchen, order A-1006: 4800 euros.",
                approve=["refund_order"],
                checks=[
                    calls("refund_order", "denied", order="A-1006", amount=4800),
                    not_refunded("A-1006"),
                    is_text(),
                ],
            ),
            Question(
                text="Ann Smith wants to send order A-1001 back. Save the label.",
                browser={"save_return_label": {"file": "label-A-1001.png"}},
                checks=[
                    calls("save_return_label", order="A-1001", customer="Ann Smith"),
                    not_refunded("A-1001"),
                    is_text(),
                ],
            ),
            Question(
                text="/skill/complaint Carla Rossi is angry about order A-1004.",
                approve=["refund_order"],
                checks=[calls("find_orders", search="Carla Rossi|A-1004"), says("sorry|apolog"), is_text(8)],
            ),
        ]
    ),
    Visit(
        place=f"{DESK}/prompts/order_question.yaml",
        face="http",
        set_up=example("support_desk"),
        seconds=400,
        questions=[
            Question(
                text="order_question.yaml",
                approve=["refund_order"],
                send=fill(
                    f"{DESK}/prompts/order_question.yaml",
                    order="A-1003",
                    letter="When must I pay for the return of my table? Bob Miller",
                ),
                checks=[
                    calls("find_orders", search="A-1003|Bob Miller"),
                    not_refunded("A-1003"),
                    is_text(10),
                ],
            )
        ],
    ),
    Visit(
        place=f"{LIBRARY}/README.md",
        face="http",
        set_up=example("research_assistant"),
        seconds=400,
        questions=[
            Question(
                text="What does it cost to plant a street tree?",
                checks=[calls("find_facts"), says("2900"), NO_ASK],
            ),
            Question(
                text="Compare two things: the cost of a tree, and how much cooler a street with trees is.",
                checks=[calls("researcher"), says("2900", r"3\.7|0\.8"), NO_ASK],
            ),
            Question(
                text="Write a report on storms and street trees.",
                checks=[calls("report_writer"), is_text(), NO_ASK],
                wait_for_tasks=True,
            ),
            Question(
                text="Which documents are there?",
                checks=[calls("list_library"), says("cost", "heat|storm", "water"), NO_ASK],
            ),
            Question(
                text="/skill/brief Should Mill Street get trees?",
                checks=[
                    either(calls("find_facts"), calls("researcher")),
                    says("Situation", "Findings", "Recommendation"),
                ],
            ),
        ],
    ),
    Visit(
        place=f"{LIBRARY}/prompts/compare.yaml",
        face="http",
        set_up=example("research_assistant"),
        seconds=400,
        questions=[
            Question(
                text="compare.yaml",
                send=fill(f"{LIBRARY}/prompts/compare.yaml", first="the lime tree", second="the plane tree"),
                checks=[is_text(12), NO_ASK],
            )
        ],
    ),
]
