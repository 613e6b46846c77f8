"""The programs in examples/, and the two whole services."""

import datetime
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing

from evals.reality.outcome import (
    Check,
    Outcome,
    calls,
    either,
    is_text,
    matches,
    never_calls,
    normalize,
    only_calls,
    read_value,
    says,
    says_none_of,
    shorten,
)
from evals.reality.pages import ROOT
from evals.reality.shown.programs import WOODS
from evals.reality.shown.projects import fill
from evals.reality.shown.set_up import example
from evals.reality.visit import Question, Visit

DESK = "examples/support_desk"
LIBRARY = "examples/research_assistant"


def program(name: str, *checks: Check, typed: str = "") -> Visit:
    """A program of examples/, run as it is."""
    path = f"examples/{name}"
    question = Question(text=name, checks=checks, typed=typed)
    return Visit(place=path, face="program", program=str(ROOT / path), questions=[question], seconds=300)


def refunded(order: str, amount: float) -> Check:
    """The database of the desk has this refund of the order, and no other."""
    return _has_refunds(order, [amount])


def not_refunded(order: str) -> Check:
    """The database of the desk has no refund of an order."""
    return _has_refunds(order, [])


def _has_refunds(order: str, amounts: Sequence[float]) -> Check:
    def check(outcome: Outcome) -> str | None:
        with closing(sqlite3.connect(outcome.folder / "data" / "shop.db")) as connection:
            rows = connection.execute("SELECT amount FROM refunds WHERE number = ?", [order]).fetchall()
        found = [amount for (amount,) in rows]
        wrong = f"refunds of {order} are {found}, not {amounts}; {shorten(outcome.text)}"
        return None if found == amounts else wrong

    return check


def answers_alike(outcome: Outcome) -> str | None:
    """Three answers that are the same, and one request."""
    found = re.fullmatch(r"(.+?\n)\1\1asked 1 time\(s\)\s*", outcome.text, re.DOTALL)
    return None if found else f"not three equal answers and one request: {shorten(outcome.text)}"


def is_stream(outcome: Outcome) -> str | None:
    """Lines of JSON whose texts name a wood, and which end with the goal."""
    lines = [read_value(line) for line in outcome.text.splitlines()]
    if not lines or not all(isinstance(line, dict) for line in lines):
        return f"no stream of lines: {shorten(outcome.text)}"
    text = "".join(line.get("text", "") for line in lines)
    fits = lines[-1].get("end") == "goal" and matches(WOODS, text)
    return None if fits else f"no wood, or no goal: {shorten(text)}"


def says_today(outcome: Outcome) -> str | None:
    """The date of today, in digits or with the name of the month."""
    today = datetime.date.today()
    day, month = rf"{today.day}(?:st|nd|rd|th)?", f"{today:%B}"
    pattern = rf"{today.isoformat()}|{day}\W+(?:of )?{month}|{month}\W+{day}"
    return None if matches(pattern, normalize(outcome.text)) else f"not today: {shorten(outcome.text)}"


NO_ASK = never_calls("ask_user")


def ask_desk(questions: Sequence[Question]) -> Visit:
    """Questions of the support desk's README."""
    return Visit(place=f"{DESK}/README.md", face="http", set_up=example("support_desk"), questions=questions)


VISITS = [
    program("typed_answer.py", says(r"Ann Smith: (54\.50|102\.50) euros")),
    program("first_field.py", says(r"^-> \S", r"\[ordered: ", r"\n.{20,}"), is_text(15)),
    program(
        "tool.py", calls("count_stock", wood="oak"), says("12|twelve|yes"), says_none_of("no oak", "no,")
    ),
    program(
        "two_agents.py", says("Tisch ist rot", "maison (?:est )?verte"), calls("translate", language="French")
    ),
    program("chat_memory.py", says(r"\n> [\s\S]*\bAnn\b"), is_text(4), typed="I am Ann.\nWhat is my name?\n"),
    program(
        "many_questions.py", says(r"^happy: The drawer", r"\nunhappy: Two screws", r"\nhappy: A good table")
    ),
    program(
        "yaml_prompt.py",
        says("oak|stools?"),
        says_none_of(r"[$€]", r"\d ?(?:euros?|dollars?|EUR|USD)"),
        is_text(12),
    ),
    program(
        "approval.py",
        calls("order_boards", wood="oak", count=12),
        says(r"Orders: 12 x oak\s*\Z"),
        is_text(),
        typed="y\ny\ny\n",
    ),
    program("mcp_server.py", calls("find_price", wood="oak.*"), says("48")),
    program(
        "background.py",
        calls("researcher"),
        says(r"researcher ended: goal\n[\s\S]*?(?:\d{3}|hundred|thousand|centur)"),
        is_text(8),
    ),
    program("agent_extension.py", says_today),
    program("requester.py", answers_alike, says(rf"balsa|basswood|paulownia|aspen|poplar|{WOODS}")),
    program("event_encoder.py", is_stream),
    program(
        "spend_limit.py",
        calls("find_price"),
        says(r"48|48[.,]00", "max-calls: The limit of 3"),
    ),
    ask_desk(
        [
            Question(
                text="What did Ann Smith order?",
                checks=[calls("find_orders", search="Ann Smith"), says("stools?", "oil"), NO_ASK],
            ),
            Question(
                text="How long does the delivery of furniture take?",
                checks=[calls("search_help"), says("10|ten"), NO_ASK],
            ),
            Question(
                text="The parcel of order A-1002 is lost. Refund 14.50 euros.",
                checks=[
                    calls("refund_order", order="A-1002", amount=14.5),
                    only_calls("refund_order", order="A-1002", amount=14.5),
                    refunded("A-1002", 14.5),
                    says(r"refund\w*|14\.50?"),
                    is_text(),
                ],
            ),
            Question(
                text="The parcel of order A-1004 is lost. Refund 59 euros.",
                approve=["refund_order"],
                checks=[
                    calls("refund_order", order="A-1004", amount=59),
                    only_calls("refund_order", order="A-1004", amount=59),
                    refunded("A-1004", 59.0),
                    says(r"refund\w*|59|59\.00?"),
                    is_text(),
                ],
            ),
            Question(
                text="Refund the kitchen, order A-1006: 4800 euros.",
                approve=["refund_order"],
                checks=[
                    calls("refund_order", "denied", order="A-1006", amount=4800),
                    not_refunded("A-1006"),
                    says_none_of("has been refunded", "was refunded", "successfully"),
                    is_text(),
                ],
            ),
            Question(
                text="Ann Smith wants to send order A-1001 back. Save the label.",
                browser={"save_return_label": {"file": "label-A-1001.png"}},
                checks=[
                    calls("save_return_label", order="A-1001", customer="Ann Smith"),
                    only_calls("save_return_label", order="A-1001", customer="Ann Smith"),
                    not_refunded("A-1001"),
                    says(r"label\w*|A-1001"),
                    is_text(),
                ],
            ),
            Question(
                text="/skill/complaint Look at order A-1004: Carla Rossi is angry.",
                approve=["refund_order"],
                checks=[
                    calls("find_orders", search="Carla Rossi|A-1004"),
                    says(r"sorry|apolog\w*"),
                    is_text(8),
                ],
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
                    letter="How long may I wait before I send my table back? Bob Miller",
                ),
                checks=[
                    calls("search_help"),
                    not_refunded("A-1003"),
                    says(r"30|thirty"),
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
                text="Ask the researcher how much cooler a street with trees is.",
                checks=[calls("researcher"), calls("find_facts"), says(r"3\.7|0\.8"), NO_ASK],
            ),
            Question(
                text="Write a report on storms and street trees.",
                checks=[calls("report_writer"), calls("find_facts"), is_text(), NO_ASK],
                wait_for_tasks=True,
            ),
            Question(
                text="Name the documents of the library.",
                checks=[calls("list_library"), says("costs?", "heat|storm", r"water\w*"), NO_ASK],
            ),
            Question(
                text="/skill/brief Should Mill Street get trees?",
                checks=[
                    either(calls("find_facts"), calls("researcher")),
                    says("Situation", "Findings?", "Recommendations?", "Mill Street"),
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
                checks=[
                    either(calls("find_facts"), calls("researcher")),
                    says("limes?", "planes?", r"\|.*\|"),
                    is_text(12),
                    NO_ASK,
                ],
            )
        ],
    ),
]
