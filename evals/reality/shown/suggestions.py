"""The examples on the first screen of the page, clicked in the shipped assistant."""

from collections.abc import Collection, Sequence

from evals.reality.outcome import (
    Check,
    Outcome,
    calls,
    describe_call,
    is_text,
    never_calls,
    says,
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
            if call.tool == tool and pattern in str(call.arguments.get(argument, "")):
                return None
        made = ", ".join(map(describe_call, outcome.calls)) or "no call"
        return f"no call {tool} of {pattern}: {made}; {shorten(outcome.text)}"

    return check


PLAIN = never_calls("ask_user", "write_file", "run_shell_command", "write_todos")
CHECKS: dict[str, Sequence[Check]] = {
    "list_files": [calls("list_files"), says(r"main\.py", r"plan\.py")],
    "codebase_investigator": [says(r"main\.py"), is_text(5)],
    "write_file": [calls("write_file", path=r"(\./)?packing\.md"), writes("packing.md", lines=4), is_text()],
    "run_shell_command": [calls("run_shell_command"), says(r"20\d\d"), is_text(3)],
    "calculate": [says("6223")],
    "get_weather": [tries("get_weather", "city", "")],
    "search_files": [says("main", "TODO|length|长度|待办")],
    "read_file": [calls("read_file", path=r"(\./)?README\.md"), says("boat|船")],
    "fetch_url": [tries("fetch_url", "url", "wikipedia.org")],
    "open-url": [tries("open-url", "url", "wikipedia.org")],
}
PLAIN_CHECKS: Sequence[Sequence[Check]] = [
    [says("wood|joint|木|榫"), is_text(15), PLAIN],
    [is_text(3, 150), PLAIN],
    [says("parcel|package|包裹"), is_text(3, 40), PLAIN],
    [says(r"\|.*\|", "oak|橡", "ash|白蜡"), is_text(15), PLAIN],
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
