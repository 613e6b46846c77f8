"""The projects of `dovetail init`, and what the tours do with them."""

import re
from typing import Any

from evals.reality.outcome import (
    Check,
    Outcome,
    calls,
    either,
    is_data,
    is_text,
    matches,
    never_calls,
    normalize,
    only_calls,
    says,
    says_none_of,
    shorten,
)
from evals.reality.pages import ROOT
from evals.reality.shown.set_up import new_agent, project
from evals.reality.visit import Question, Visit

TEMPLATES = "templates/projects"
CHISELS: list[Check] = [
    calls("count_stock", item="chisels?"),
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
SORTED = "Sort this message: name its topic, and summarize it in one sentence.\n\n"


LATE_ORDER = r"\b(?:order|42|deliver|late|delay|party|arriv)"
"""What a summary of that message is about."""
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDERS = re.compile(
    r"\b(?:re-?)?(?:order|buy|purchas|stock up|restock|need|get|add)\w*|订|购|买|补", re.IGNORECASE
)
_AMOUNT = re.compile(
    rf"(?<![\d.])\d+(?![\d.]*\d)|\b(?:{'|'.join(NUMBERS)}|a dozen|twel\w+|\w+teen|twenty)\b", re.I
)
_PIECES = re.compile(r"(\d+|[一二两三四五六七八九十百]+) ?(?:把|件|个|支|只)")
_IN_STOCK = re.compile(
    r"\b(?:have|has|are|is|only|stock:?|of) (?:only |just )?(?:3|three)\b|(?:还有|只有|剩|为|是|有) ?(?:3|三)"
    r"|\b(?:3|three) (?:\w+ ){0,2}(?:left|in stock|available)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(r"\b(?:planes?|saws?)\b|刨|锯", re.IGNORECASE)


def orders_few(outcome: Outcome) -> str | None:
    """A sentence orders chisels, at most ten pieces; none orders more, or something else.

    The three in stock are no order, unless the word is next to the number.
    """
    sentences = [
        each for each in re.split(r"[.!?。！？]\s|\n|。", normalize(outcome.text)) if _ORDERS.search(each)
    ]
    amounts = [each for sentence in sentences for each in _find_amounts(sentence)]
    few = [each for each in amounts if each <= 10]
    fits = few and few == amounts and matches("chisels?|凿子?", outcome.text)
    if fits and not any(map(_OTHER.search, sentences)):
        return None
    return f"no order of one to ten chisels: {shorten(outcome.text)}"


def _find_amounts(sentence: str) -> list[int]:
    """Return the numbers of pieces that a sentence orders; a rule such as "not more than ten" is none."""
    plain = _IN_STOCK.sub("", re.sub(r"(?:more than|不超过) ?(?:10|ten|十)", "", sentence))
    return [*map(_read_amount, _AMOUNT.findall(plain)), *map(_read_amount, _PIECES.findall(plain))]


def _read_amount(text: str) -> int:
    """Return a number in digits or words; one above ten need not be exact."""
    chinese = "一二三四五六七八九十".find(text)
    if text.isdigit():
        return int(text)
    if text.lower() in NUMBERS:
        return NUMBERS.index(text.lower()) + 1
    return 2 if text == "两" else chinese + 1 if chinese >= 0 and len(text) == 1 else 11


def names_dovetail(outcome: Outcome) -> str | None:
    """The first joint that the answer names is the dovetail joint."""
    found = re.search(r"dovetail|finger|mortise|tenon", outcome.text, re.IGNORECASE)
    fits = found and found[0].lower() == "dovetail"
    return None if fits else f"does not say dovetail first: {shorten(outcome.text)}"


def is_ticket(data: Any) -> bool:
    """Whether a late order became a ticket about a delivery, of the customer that the tool found."""
    has_summary = len(data["summary"]) > 10 and matches(LATE_ORDER, data["summary"])
    return data["topic"] == "delivery" and data["customer"] == "Ann Smith" and has_summary


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
    checks = [calls("count_stock", item="chisels?"), orders_few, never_calls("ask_user")]
    checks += [says("3|three|三")] if "库存" in question else []
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


ORDER_TOOL_ZH = ORDER_TOOL.replace(
    "Order pieces of an item from the supplier.", "向供应商订购若干件工具。"
).replace("Ordered: {pieces}", "已订购：{pieces}")


def order_planes(place: str, question: str, tool: str = ORDER_TOOL) -> Visit:
    """The tool that the teams' tour adds."""
    made: dict[str, Any] = {"item": "planes?|刨子", "pieces": 2}
    checks = [calls("order_item", **made), only_calls("order_item", **made)]
    checks += [says("planes?|刨"), is_text(2), never_calls("ask_user")]
    asked = Question(text=question, approve=["order_item"], checks=checks)
    set_up = project("chat", tools="order_item", files={"extensions/orders/extension.py": tool})
    return Visit(place=place, face="http", note="order", set_up=set_up, questions=[asked])


def say_hello(place: str, question: str) -> Visit:
    """The first message of the operators' tour."""
    presents = says(r"I am|I'm|my name|assistant|workshop|help|我是|助手|您好|你好|帮")
    asked = Question(text=question, checks=[is_text(2, 60), presents, never_calls()])
    return Visit(place=place, face="http", set_up=project("chat"), questions=[asked])


def ask_new_agent() -> Visit:
    """The agent that `dovetail agents new` writes, with the question that the command prints."""
    question = "Which files are here?"
    files = {"boat.md": "# Boat\n\nA plan of a small boat.\n", "costs.csv": "item,euros\nsail,820\n"}
    checks = [calls("list_files"), says(r"boat\.md", r"costs\.csv"), is_text(), never_calls("ask_user")]
    asked = Question(text=question, words=["run", "helper", question, "-p"], checks=checks)
    place = "src/dovetail/cli/commands/agents.py"
    return Visit(place=place, face="terminal", set_up=new_agent("helper", files), questions=[asked])


REFUNDED = [
    calls("refund", number="A-1001", amount=10),
    only_calls("refund", number="A-1001", amount=10),
    says(r"10|10\.00?|ten"),
    never_calls("ask_user"),
]
NOT_A_DELIVERY = r"not (?:an? |the |about |related to )*deliver(?:y|ies)"

VISITS = [
    ask_new_agent(),
    *ask_for_chisels(f"{TEMPLATES}/chat/README.md", "How many chisels are in stock?"),
    *ask_for_chisels("README.md", "How many chisels are in stock?")[1:],
    *ask_for_chisels("README.zh.md", "How many chisels are in stock?")[1:],
    *ask_for_chisels("docs/tour/team.md", "How many chisels do we have?"),
    *ask_for_chisels("docs/tour/team.zh.md", "还有多少把凿子？"),
    *ask_for_chisels("docs/tour/frontend.md", "How many chisels do we have?")[:1],
    *ask_for_chisels("docs/tour/frontend.zh.md", "还有多少把凿子？")[:1],
    buy("docs/tour/team.md", "How many chisels should we order?", BUYER),
    buy("docs/tour/team.zh.md", "凿子还有几把？该再订几把？", BUYER_ZH),
    order_planes("docs/tour/team.md", "Order two planes"),
    order_planes("docs/tour/team.zh.md", "订两把刨子", ORDER_TOOL_ZH),
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
                    says("10|ten", "chisels?"),
                    says_none_of("planes?", "saws?"),
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
                text="program.py",
                checks=[
                    says(rf"topic='delivery' is_urgent=True summary=(?=.{{10}}).*{LATE_ORDER}"),
                    is_text(),
                ],
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
            Question(
                text="sort.yaml",
                send=SORTED + LATE,
                checks=[
                    says(r"deliver\w*", r"arriv\w*|late|orders?|42|parcel|package"),
                    says_none_of(NOT_A_DELIVERY),
                    is_text(8),
                ],
            )
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
                checks=[calls("search_library"), names_dovetail, is_text(), never_calls("ask_user")],
            ),
            Question(
                text="Have the researcher find out which joints hold without glue.",
                checks=[calls("researcher"), calls("search_library"), is_text(), never_calls("ask_user")],
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
                    either(calls("search_library"), calls("read_source")),
                    says("dovetails?", "fingers?", "glued?|pull(?:ed|ing)?|drawers?|box|boxes"),
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
                checks=[
                    calls("show_order", number="A-1002"),
                    only_calls("show_order", number="A-1002"),
                    never_calls("refund", "ask_user"),
                    is_text(2),
                ],
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
                send=fill(
                    f"{TEMPLATES}/support-desk/prompts/complaint.yaml",
                    order="A-1001",
                    complaint="My oak board came five days late. Ann Smith",
                ),
                checks=[
                    calls("find_order", number="A-1001"),
                    says(r"20 ?%|20 percent|9\.60?"),
                    is_text(8),
                    never_calls("refund", "ask_user"),
                ],
            )
        ],
    ),
]
