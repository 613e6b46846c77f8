"""The how-tos that show what a model answers."""

import re
from collections.abc import Mapping
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
    only_calls,
    says,
    shorten,
    writes,
)
from evals.reality.shown.programs import WOODS
from evals.reality.visit import Question, Visit


def program(name: str, *questions: Question) -> Visit:
    """The Python blocks of a how-to."""
    return Visit(place=f"docs/howto/{name}.md", face="program", questions=questions)


def page(name: str, *questions: Question, seconds: float = 240) -> Visit:
    """A how-to with files and commands."""
    return Visit(place=f"docs/howto/{name}.md", face="page", questions=questions, seconds=seconds)


def streams(*patterns: str) -> Check:
    """The texts of a printed stream, joined, match the patterns."""

    def check(outcome: Outcome) -> str | None:
        pieces = re.findall(r'"text-delta".*?"delta":"((?:[^"\\]|\\.)*)"', outcome.text)
        return says(*patterns)(Outcome(text="".join(pieces)))

    return check


def prints_beside_logs(*patterns: str) -> Check:
    """What is printed, without the lines of logs and spans, matches the patterns."""

    def check(outcome: Outcome) -> str | None:
        lines = outcome.text.splitlines()
        own = [line for line in lines if not re.match(r"span: |[a-z_]+(?:\.[a-z_]+)*: ", line)]
        return says(*patterns)(Outcome(text="\n".join(own)))

    return check


def sorts_woods(data: Mapping[str, str]) -> bool:
    """Whether oak is hard, and the other two are soft."""
    hard, soft = r"hard\w*", r"soft\w*"
    expected = {"oak": (hard, soft), "pine": (soft, hard), "balsa": (soft, hard)}
    return set(data) == set(expected) and all(
        matches(is_it, data[wood]) and not matches(is_not, data[wood])
        for wood, (is_it, is_not) in expected.items()
    )


def is_real_wood(data: Mapping[str, Any]) -> bool:
    """Whether the two fields hold a wood and its hardness."""
    return set(data) == {"name", "hardness"} and matches(WOODS, data["name"]) and data["hardness"] > 0


def says_twelve(data: Mapping[str, Any]) -> bool:
    """Whether the answer is that of the notes, with their name."""
    return matches("twelve|12", data["answer"]) and any("bench.md" in file for file in data["files"])


def is_review(data: Mapping[str, Any]) -> bool:
    """Whether a verdict on the text has a score."""
    topic = r"oaks?|hard\w*|woods?|texts?|statement|sentence|clear|short|simple|concise|true|correct|accurate"
    return 1 <= data["score"] <= 10 and len(data["verdict"]) > 3 and matches(topic, data["verdict"])


def has_three_lines(outcome: Outcome) -> str | None:
    """At most three lines."""
    lines = [line for line in outcome.text.splitlines() if line.strip()]
    return None if len(lines) <= 3 else f"{len(lines)} lines instead of three: {shorten(outcome.text)}"


AGE = r"\d{3}|\d \d{3}|hundreds?|thousands?|centur\w+"
"""Oaks become some hundred years old."""
VISITS = [
    program(
        "agent-as-tool",
        Question(
            text="Ask the wood expert: which wood is good for a garden bench?",
            checks=[calls("wood_expert"), says(WOODS), is_text(4)],
        ),
    ),
    program(
        "ask-the-user",
        Question(
            text="question",
            checks=[
                calls("order", item=".*boards?"),
                only_calls("order"),
                says(r"Which wood\?", r"How many\?", r"ordered 2 x Oak [^|\n]*boards? \| \S"),
            ],
        ),
    ),
    program("cancel-a-run", Question(text="Dig a deep hole.", checks=[says("cancelled after 1 turn")])),
    program(
        "correct-wrong-answers",
        Question(text="Oak has hardness 6", checks=[says(r"name='oak(?: wood|wood)?' hardness=6\s*\Z")]),
    ),
    program(
        "keep-a-chat",
        Question(text="I am Ann, and I build a bench.", checks=[says(r"\n[\s\S]*\bAnn\b")]),
        Question(
            text="The bench is of oak.",  # its answer is not printed, but stored
            checks=[writes("chats/ann.json", "The bench is of oak", r'"role": "assistant"')],
        ),
        Question(text="Which wood?", checks=[says("oak", r"4 messages\s*\Z")]),
    ),
    program(
        "limit-spending",
        Question(
            text="Search the web: what does an oak board cost?",
            checks=[calls("search"), says("48"), is_text()],
        ),
    ),
    program(
        "many-questions",
        Question(
            text="Ask many questions at once",
            checks=[is_data(sorts_woods)],
        ),
    ),
    program(
        "stream-a-field",
        Question(text="Which wood is good for a bench?", checks=[says(r"search for: \S", WOODS), is_text(8)]),
    ),
    program(
        "stream-from-fastapi",
        Question(
            text="Which wood is good for {use}?",
            checks=[is_data(is_real_wood), says(WOODS), is_text(4)],
        ),
    ),
    program(
        "tool-approval",
        Question(
            text="Send Ann a mail: her bench is ready.",
            checks=[
                calls("send_mail", to=".*ann.*", text=".*bench.*ready.*|.*ready.*bench.*"),
                only_calls("send_mail"),
                says(r"May I call send_mail\? To .*ann.*\n[\s\S]*\w"),
            ],
        ),
    ),
    program(
        "tools-then-a-typed-answer",
        Question(
            text="What does a chisel cost?",
            checks=[
                calls("find_price", item="chisels?"),
                says(r"Quote\(item='chisels?', price=12\.5\)\n37\.5\s"),
            ],
        ),
    ),
    program(
        "typed-hand-over",
        Question(
            text="A chisel",
            checks=[
                calls("find_price", item="chisels?"),
                says(r"\bAnn\b[\s\S]*\npricer \d", "chisels?", r"12[.,]50?", r"\nwriter \d+ turns"),
            ],
        ),
    ),
    program(
        "typed-list",
        Question(
            text="Get a list of typed objects",
            checks=[says(r"oak boards?: 48\.00 per piece", r"glue: 6\.50 per pot")],
        ),
    ),
    program(
        "use-langchain-tools",
        Question(
            text="What does an oak board cost?", checks=[calls("find_price", wood="oak"), says("48", r"\n3$")]
        ),
    ),
    page(
        "answer-from-files",
        Question(
            text="Search for glue: how long must it dry?",
            checks=[
                either(calls("search_files"), calls("read_file")),
                is_data(says_twelve),
                says(r"notes/bench\.md"),
            ],
        ),
    ),
    page(
        "approve-over-http",
        Question(
            text="Send Ann a mail: it is ready.",
            checks=[says(r'"tool":"send_mail"', r'"to":"[^"]*ann', r'"text":".*ready')],
        ),
    ),
    page("back-up-the-store", Question(text="Hello", checks=[says(r"Backed up to copy\.db")])),
    page(
        "background-work",
        Question(
            text="Have the researcher find out how many years an oak lives.",
            checks=[
                calls("researcher"),
                says(rf'"response":"[^"]{{3,}}"\n"response":"[^"]*?(?:{AGE})'),
            ],
        ),
        seconds=400,
    ),
    page(
        "browser-tool",
        Question(
            text="What is the title?",
            checks=[says('"result":"resolved"'), calls("read_title"), streams("My shop")],
        ),
    ),
    page(
        "call-the-http-api",
        Question(
            text="What is oak?",
            checks=[says(r'"response":"[^"]*\boak', r"\w*woods?|trees?", '"reason":"goal"')],
        ),
        Question(
            text="node ask.mjs",
            checks=[says("pines?", r"\w*woods?|trees?|conifer\w*|evergreens?"), is_text()],
        ),
    ),
    page(
        "load-a-prompt-from-yaml",
        Question(
            text="python review.py",
            checks=[is_data(is_review)],
        ),
    ),
    page(
        "log-and-trace",
        Question(
            text="python traced.py 2>&1",
            checks=[
                calls("count", item="chisels?"),
                prints_beside_logs("3|three"),
                says("span: invoke_agent shop"),
            ],
        ),
    ),
    page(
        "why-was-it-slow",
        Question(
            text="How many coats of varnish does a table need?",
            checks=[says("2|3|4|5|two|three|four|five", "coats?|layers?|varnish"), is_text()],
        ),
    ),
    page(
        "run-every-morning",
        Question(
            text="dovetail schedules run reporter.1",
            checks=[
                either(calls("list_files"), calls("read_file")),
                has_three_lines,
                is_text(2, 150),
                never_calls("ask_user"),
            ],
        ),
    ),
    page(
        "use-mcp-server",
        Question(
            text="python ask.py",
            checks=[calls("count", item="chisel"), says("3|three")],
        ),
    ),
    page("use-openai-sdk", Question(text="python ask.py", checks=[says("master", "42")])),
]
NOT_ASKED = {
    (
        "docs/howto/typed-hand-over.md",
        "What does a plane cost? Write to Ann.",
    ): "the page says that it takes a larger model",
    (
        "docs/howto/send-an-image.md",
        "What is in this picture?",
    ): "the page says that embedded models read text only",
    ("docs/howto/two-workers-on-postgresql.md", "Hello"): "needs PostgreSQL, and only says hello",
}
