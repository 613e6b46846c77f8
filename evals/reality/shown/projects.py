"""The projects of `dovetail init`, and what the tours do with them."""

from typing import Any

from evals.reality.outcome import Check, calls, is_data, is_text, never_calls, says, says_none_of
from evals.reality.pages import ROOT
from evals.reality.shown.set_up import project
from evals.reality.visit import Question, Visit

TEMPLATES = "templates/projects"
CHISELS: list[Check] = [
    calls("count_stock"),
    says("3|three|三"),
    says_none_of(r"\b0\b"),
    never_calls("ask_user"),
]
BUYER = """\
---
description: Decides what to order when something is short, and says why.
tools: [count_stock]
max_turns: 5
---
You buy for a workshop. Look at the stock first. Never order more than ten pieces of an item.
"""
BUYER_ZH = """\
---
description: 库存不足时决定订购什么，并说明理由。
tools: [count_stock]
max_turns: 5
---
你为一间木工房采购。先查库存。每种工具一次最多订十件。
"""
PLACE_TOOL = """\
TOOL = {
    "label": "page",
    "name": "read_place",
    "description": "Read the language and the time zone of the user's browser.",
    "parameters": {},
    "browser": True,
}
"""
IN_LISBON = {"read_place": {"language": "en", "time_zone": "Europe/Lisbon"}}
LATE = "Order 42 has not arrived! Ann, C-7"
SORTED = (
    "Sort this message. Name the topic, whether it is urgent and why, and summarize it in one sentence.\n\n"
)


def is_ticket(data: Any) -> bool:
    """Whether a late order became a ticket about a delivery, of the customer that the tool found."""
    return data["topic"] == "delivery" and data["customer"] == "Ann Smith" and len(data["summary"]) > 10


def is_urgent_ticket(data: Any) -> bool:
    """Whether a party tomorrow is urgent as well."""
    return is_ticket(data) and data["is_urgent"] is True


def fill(path: str, **variables: str) -> str:
    """Return the message that a prompt of the library becomes."""
    text = (ROOT / path).read_text(encoding="utf-8").partition("input: |\n")[2]
    lines = "\n".join(line.removeprefix("  ") for line in text.splitlines())
    for name, value in variables.items():
        lines = lines.replace("${" + name + "}", value)
    return lines.strip()


def ask_for_chisels(place: str, question: str) -> list[Visit]:
    """The first question of a project, in the terminal and in the page."""
    asked = [Question(text=question, checks=CHISELS)]
    return [
        Visit(place=place, face="http", set_up=project("chat"), questions=asked),
        Visit(place=place, face="terminal", set_up=project("chat"), questions=asked),
    ]


def buy(place: str, question: str, agent: str) -> Visit:
    """The agent of the teams' tour."""
    checks = [calls("count_stock"), says(r"\b([1-9]|10)\b|seven|ten|七|十"), never_calls("ask_user")]
    asked = Question(text=question, words=["run", "buyer", question, "-p"], checks=checks)
    set_up = project("chat", files={"agents/buyer.md": agent})
    return Visit(place=place, face="terminal", note="run", set_up=set_up, questions=[asked])


def find_place(place: str, question: str) -> Visit:
    """The browser tool of the front-end tour."""
    asked = Question(text=question, browser=IN_LISBON, checks=[calls("read_place"), says("Lisbon|里斯本")])
    set_up = project("chat", tools="read_place", files={"extensions/here/extension.py": PLACE_TOOL})
    return Visit(place=place, face="http", note="tab", set_up=set_up, questions=[asked])


ORDER_TOOL = '''\
from dovetail import tool


@tool(kind="write")
def order_item(item: str, pieces: int = 1) -> str:
    """Order pieces of an item from the supplier."""
    return f"Ordered: {pieces} x {item}"


TOOLS = [order_item]
'''


def order_planes(place: str, question: str) -> Visit:
    """The tool that the teams' tour adds."""
    checks = [calls("order_item", item="planes?|刨子", pieces=2), is_text(2), never_calls("ask_user")]
    asked = Question(text=question, approve=["order_item"], checks=checks)
    set_up = project("chat", tools="order_item", files={"extensions/orders/extension.py": ORDER_TOOL})
    return Visit(place=place, face="http", note="order", set_up=set_up, questions=[asked])


def say_hello(place: str, question: str) -> Visit:
    """The first message of the operators' tour."""
    asked = Question(text=question, checks=[is_text(2, 60), never_calls()])
    return Visit(place=place, face="http", set_up=project("chat"), questions=[asked])


REFUNDED = [calls("refund", number="A-1001", amount=10), says("10|ten"), never_calls("ask_user")]

VISITS = [
    *ask_for_chisels(f"{TEMPLATES}/chat/README.md", "How many chisels are in stock?"),
    *ask_for_chisels("docs/tour/team.md", "How many chisels do we have?"),
    *ask_for_chisels("docs/tour/team.zh.md", "还有多少把凿子？"),
    *ask_for_chisels("docs/tour/frontend.md", "How many chisels do we have?")[:1],
    *ask_for_chisels("docs/tour/frontend.zh.md", "还有多少把凿子？")[:1],
    buy("docs/tour/team.md", "How many chisels should we order?", BUYER),
    buy("docs/tour/team.zh.md", "凿子的库存还有多少？要订几把？", BUYER_ZH),
    order_planes("docs/tour/team.md", "Order two planes"),
    order_planes("docs/tour/team.zh.md", "订两把刨子"),
    say_hello("docs/tour/operator.md", "Hello, who are you?"),
    say_hello("docs/tour/operator.zh.md", "你好"),
    find_place("docs/tour/frontend.md", "Which time zone am I in?"),
    find_place("docs/tour/frontend.zh.md", "我在哪个时区？"),
    Visit(
        place=f"{TEMPLATES}/chat/prompts/weekly_order.yaml",
        face="http",
        set_up=project("chat"),
        questions=[
            Question(
                text="weekly_order.yaml",
                send=fill(f"{TEMPLATES}/chat/prompts/weekly_order.yaml", item="chisels"),
                checks=[
                    calls("count_stock", item="chisel"),
                    says("10|ten", "chisel"),
                    never_calls("ask_user"),
                ],
            )
        ],
    ),
    Visit(
        place=f"{TEMPLATES}/api/program.py",
        face="program",
        program="program.py",
        set_up=project("api"),
        questions=[
            Question(
                text="program.py", checks=[says(r"topic='delivery' is_urgent=True summary=.{10,}"), is_text()]
            )
        ],
    ),
    Visit(
        place=f"{TEMPLATES}/api/client.py",
        face="http",
        set_up=project("api"),
        questions=[
            Question(
                text="client.py",
                words=["python", "client.py"],
                checks=[calls("find_customer", number="C-7"), is_data(is_urgent_ticket)],
            ),
        ],
    ),
    Visit(
        place=f"{TEMPLATES}/api/README.md",
        face="http",
        set_up=project("api"),
        questions=[
            Question(
                text=LATE,
                agent="triage",
                reads_json=True,
                checks=[calls("find_customer", number="C-7"), is_data(is_ticket)],
            ),
        ],
    ),
    Visit(
        place=f"{TEMPLATES}/api/prompts/sort.yaml",
        face="http",
        set_up=project("api"),
        questions=[
            Question(text="sort.yaml", send=SORTED + LATE, checks=[says("deliver", "urgent"), is_text(8)])
        ],
    ),
    Visit(
        place=f"{TEMPLATES}/research/README.md",
        face="http",
        set_up=project("research"),
        seconds=400,
        questions=[
            Question(
                text="Search the library: which joint cannot be pulled apart?",
                checks=[calls("search_library"), says("dovetail"), is_text(), never_calls("ask_user")],
            ),
            Question(
                text="Have the researcher compare the joints.",
                checks=[calls("researcher"), is_text(), never_calls("ask_user")],
                wait_for_tasks=True,
            ),
        ],
    ),
    Visit(
        place=f"{TEMPLATES}/research/prompts/compare.yaml",
        face="http",
        set_up=project("research"),
        questions=[
            Question(
                text="compare.yaml",
                send=fill(
                    f"{TEMPLATES}/research/prompts/compare.yaml",
                    first="dovetail joints",
                    second="finger joints",
                ),
                checks=[
                    says("dovetail", "finger", "glue|pulled|drawer|box"),
                    is_text(15),
                    never_calls("ask_user"),
                ],
            )
        ],
    ),
    Visit(
        place=f"{TEMPLATES}/support-desk/README.md",
        face="http",
        set_up=project("support-desk"),
        questions=[
            Question(
                text="Refund 10 euros of order A-1001, it came late", approve=["refund"], checks=REFUNDED
            ),
            Question(
                text="Show me order A-1002",
                browser={"show_order": {"shown": "A-1002"}},
                checks=[calls("show_order", number="A-1002"), never_calls("refund", "ask_user")],
            ),
        ],
    ),
    Visit(
        place=f"{TEMPLATES}/support-desk/prompts/complaint.yaml",
        face="http",
        set_up=project("support-desk"),
        seconds=400,
        questions=[
            Question(
                text="complaint.yaml",
                approve=["refund"],
                send=fill(
                    f"{TEMPLATES}/support-desk/prompts/complaint.yaml",
                    order="A-1001",
                    complaint="My oak board came five days late. Ann Smith",
                ),
                checks=[
                    calls("find_order", number="A-1001"),
                    says("refund|9.6"),
                    is_text(8),
                    never_calls("ask_user"),
                ],
            )
        ],
    ),
]
