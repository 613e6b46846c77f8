"""The examples on the first screen of the page, clicked in the shipped assistant."""

import re
from collections.abc import Collection, Sequence

from evals.reality.outcome import (
    Check,
    Outcome,
    calls,
    describe_call,
    is_text,
    matches,
    never_calls,
    only_calls,
    says,
    says_none_of,
    shorten,
    writes,
)
from evals.reality.pages import ROOT, SUGGESTION
from evals.reality.visit import Question, Visit

ENGLISH = "web/src/text/en/chat.ts"
CHINESE = "web/src/text/zh/chat.ts"
NOTES = {
    "README.md": "# Boat\n\nA program that plans small wooden boats.\n",
    "main.py": "from plan import make_plan\n\n# TODO: read the length from the user\nprint(make_plan(3))\n",
    "plan.py": "def make_plan(length):\n    return ['keel', 'ribs', 'planks'] * length\n",
}


def tries(tool: str, argument: str, pattern: str) -> Check:
    """The tool is called with this; whether the network answers does not matter."""

    def check(outcome: Outcome) -> str | None:
        for call in outcome.calls:
            if call.tool == tool and matches(pattern, str(call.arguments.get(argument, ""))):
                return None
        made = ", ".join(map(describe_call, outcome.calls)) or "no call"
        return f"no call {tool} of {pattern}: {made}; {shorten(outcome.text)}"

    return check


def has_names(outcome: Outcome) -> str | None:
    """At least three different names, on lines of their own or with commas."""
    names = {name.strip(" .*-。") for name in re.split(r"[\n,;、，；]| and | or |和|与|或", outcome.text)}
    return None if len(names - {""}) >= 3 else f"fewer than three names: {shorten(outcome.text)}"


ITEMS = ["tents?|帐篷", "maps?|地图", "torch|torches|手电筒", "rain ?coats?|雨衣", "towels?|毛巾"]
"""What both languages want in the list."""
PLAIN = never_calls("ask_user", "write_file", "run_shell_command", "write_todos")
CHECKS: dict[str, Sequence[Check]] = {
    "list_files": [calls("list_files"), says(r"main\.py", r"plan\.py")],
    "codebase_investigator": [says(r"main\.py"), is_text(5)],
    "write_file": [
        calls("write_file", path=r"(\./)?packing\.md"),
        only_calls("write_file", path=r"(\./)?packing\.md"),
        writes("packing.md", *ITEMS, lines=4),
        is_text(),
    ],
    "run_shell_command": [calls("run_shell_command"), says(r"20\d\d", r"\d ?(?:[GMT]i?B?|%)"), is_text(3)],
    "calculate": [says("6223"), is_text(1)],
    "get_weather": [tries("get_weather", "city", "Lisbon|Lisboa|里斯本")],
    "search_files": [says(r"main\.py", "TODO|length|长度|待办")],
    "read_file": [calls("read_file", path=r"(\./)?README\.md"), says("boat|船")],
    "fetch_url": [tries("fetch_url", "url", r"wikipedia\.org/wiki/")],
    "open-url": [tries("open-url", "url", r"wikipedia\.org/wiki/")],
}
PLAIN_CHECKS: Sequence[Sequence[Check]] = [
    [says(r"\w*wood\w*|木", "joints?|榫"), is_text(15), PLAIN],
    [has_names, is_text(3, 150), PLAIN],
    [
        says("parcels?|packages?|包裹", r"arriv\w+|here|deliver\w+|received|到|送达"),
        says_none_of("like to inform|在此通知"),
        is_text(3, 40),
        PLAIN,
    ],
    [
        says(r"\|.*\|", r"\| ?:?-+", "oak|橡", "ash|白蜡"),
        says("colou?rs?|颜色", "hardness|硬度", "weight|重量", "uses?|用途"),
        is_text(15),
        PLAIN,
    ],
]
BROWSER = {"open-url": {"opened": True}}


def read_suggestions(place: str) -> list[tuple[str, str]]:
    """Return the tools and questions of a language."""
    return [(tool, question) for tool, _, question in SUGGESTION.findall((ROOT / place).read_text("utf-8"))]


def ask_all(place: str, offered: Collection[str]) -> list[Question]:
    """Return a question for each suggestion that is offered."""
    found: list[Question] = []
    plain = iter(PLAIN_CHECKS)
    for tool, question in read_suggestions(place):
        checks = CHECKS[tool] if tool else next(plain)
        if tool in offered:
            approve = ["write_file", "run_shell_command", "fetch_url", "get_weather"]
            found.append(Question(text=question, checks=checks, approve=approve, browser=BROWSER))
    return found


EASY = {"write_file", "calculate", ""}
"""The tools whose examples the page offers to embedded models (web/src/app/greeting.tsx)."""
VISITS = [
    Visit(place=place, face="http", note="empty folder", questions=ask_all(place, EASY))
    for place in (ENGLISH, CHINESE)
]
NOT_ASKED = {
    (place, question): "the page does not offer it to embedded models"
    for place in (ENGLISH, CHINESE)
    for tool, question in read_suggestions(place)
    if tool not in EASY
}
