"""Ask plain questions in three ways: `python -m evals.plain [--set tuning] [--ways bare http]`.

`bare` is `Agent().input(question).start()`, with the history of its chat. `terminal` is `dovetail chat -p`,
`http` a real server, both with the shipped assistant and tools, in a folder with a few files. Only counts are
printed of the held-back set. Results stay in evals/results/plain.jsonl, so a stopped run continues;
`--again` asks once more.
"""

import argparse
import json
import math
import re
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from dovetail import Agent
from evals.plain import held_back, tuning
from evals.plain.question import Chat, PlainQuestion
from evals.reality.chat import Service
from evals.reality.outcome import Outcome, find_fault, shorten
from evals.reality.page import PAGE
from evals.reality.pages import ROOT
from evals.reality.place import MODEL, Place, find_port, open_place
from evals.reality.results import find_commit
from evals.reality.shown.set_up import write_files
from evals.reality.visit import Question

FILE = ROOT / "evals" / "results" / "plain.jsonl"
SETS = {"held-back": held_back, "tuning": tuning}
LONGEST = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer of one way."""

    asked: str
    way: str
    category: str
    question: str
    fault: str
    seconds: float
    commit: str


def ask_bare(chat: Chat, place: Place) -> Iterator[Outcome]:
    """Answer a chat with requests that have no tools."""
    agent = Agent(model=MODEL)
    for question in chat:
        begin = time.monotonic()
        text = str(agent.input(question.text).start())
        agent.add_chat_history({"role": "user", "content": question.text})
        agent.add_chat_history({"role": "assistant", "content": text})
        yield Outcome(text=text, seconds=time.monotonic() - begin)


def ask_in_terminal(chat: Chat, place: Place) -> Iterator[Outcome]:
    """Answer a chat with one command per question."""
    session = f"ses_{uuid.uuid4().hex[:12]}"
    for question in chat:
        begin = time.monotonic()
        outcome = place.run(["dovetail", "chat", "-p", "--session", session, question.text], LONGEST)
        outcome.seconds = time.monotonic() - begin
        yield outcome


class Asker:
    """Asks over HTTP; the server runs until the place closes."""

    def __init__(self) -> None:
        self._service: Service | None = None

    def ask(self, chat: Chat, place: Place) -> Iterator[Outcome]:
        """Answer a chat as the page does."""
        if self._service is None:
            port = find_port()
            self.running = place.leave_running(["dovetail", "serve", "--port", str(port)])
            self.running.__enter__()
            self._service = Service(f"http://127.0.0.1:{port}", place)
            list(self.ask([PlainQuestion(text="Hello", checks=[])], place))  # the first one reads the prompts
        for number, question in enumerate(chat):
            begin = time.monotonic()
            asked = Question(text=question.text, checks=question.checks, follows=number > 0)
            outcome = self._service.ask(asked, LONGEST)
            outcome.seconds = time.monotonic() - begin
            yield outcome

    def close(self) -> None:
        """Stop the server."""
        if self._service is not None:
            self._service.close()
            self.running.__exit__(None, None, None)


def load() -> list[Answer]:
    """Return the stored answers; the last one of a question and a way counts."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    found = [Answer(**json.loads(line)) for line in lines]
    return list({(each.asked, each.way, each.question): each for each in found}.values())


def keep(answer: Answer) -> None:
    """Store an answer."""
    FILE.parent.mkdir(exist_ok=True)
    with FILE.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(answer), ensure_ascii=False) + "\n")


def run(
    way: str, options: argparse.Namespace, answers: Callable[[Chat, Place], Iterator[Outcome]], place: Place
) -> None:
    """Ask the chats of a way that have no answer yet."""
    known = {(each.asked, each.way, each.question) for each in load()} if not options.again else set()
    for category, chats in SETS[options.set].QUESTIONS.items():
        if options.only and category not in options.only:
            continue
        for chat in chats:
            if way == "bare" and chat[0].about_files:
                continue
            if all((options.set, way, each.text) in known for each in chat):
                continue
            for question, outcome in zip(chat, answers(chat, place), strict=True):
                fault = find_fault(outcome, question.checks) or ""
                keep(
                    Answer(
                        asked=options.set,
                        way=way,
                        category=category,
                        question=question.text,
                        fault=fault,
                        seconds=round(outcome.seconds, 2),
                        commit=find_commit(),
                    )
                )
                shown = (
                    f"{question.text} → {fault or shorten(outcome.text, 80)}"
                    if options.set == "tuning"
                    else ""
                )
                print(
                    f"{'WRONG' if fault else 'ok   '} {outcome.seconds:5.1f} s {way} {category} {shown}",
                    flush=True,
                )


def interval(right: int, total: int) -> str:
    """Return the 95 % interval of a share by Wilson, in percent."""
    z, share = 1.96, right / total
    middle = share + z * z / (2 * total)
    width = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    low, high = ((middle + sign * width) / (1 + z * z / total) for sign in (-1, 1))
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def sum_up(answers: Sequence[Answer]) -> list[str]:
    """Return the table: how many are right in each way and category, and how long an answer takes."""
    ways = [way for way in ("bare", "terminal", "http") if any(each.way == way for each in answers)]
    lines = [f"| | {' | '.join(ways)} |", f"|---|{'---|' * len(ways)}"]
    for category in held_back.QUESTIONS:
        cells = [
            _share([each for each in answers if each.way == way and each.category == category])
            for way in ways
        ]
        lines.append(f"| {category} | {' | '.join(cells)} |")
    plain = [each for each in answers if each.category != "files"]
    of_way = {way: [each for each in plain if each.way == way] for way in ways}
    lines.append(f"| all but files | {' | '.join(_share(of_way[way]) for way in ways)} |")
    whole = [_whole(of_way[way]) for way in ways]
    lines.append(f"| 95 % interval | {' | '.join(whole)} |")
    medians = {
        way: statistics.median(each.seconds for each in found) for way, found in of_way.items() if found
    }
    lines.append(
        f"| median seconds | {' | '.join(f'{medians[way]:.1f}' if way in medians else '' for way in ways)} |"
    )
    if "bare" in medians:
        ratios = [f"{medians[way] / medians['bare']:.1f}" if way in medians else "" for way in ways]
        lines.append(f"| times the bare way | {' | '.join(ratios)} |")
    return lines


def _share(answers: Sequence[Answer]) -> str:
    return f"{sum(not each.fault for each in answers)} of {len(answers)}" if answers else ""


def _whole(answers: Sequence[Answer]) -> str:
    return interval(sum(not each.fault for each in answers), len(answers)) if answers else ""


def write_page(answers: Sequence[Answer]) -> None:
    """Replace the part of docs/reality.md about plain questions."""
    commits = ", ".join(sorted({f"`{each.commit}`" for each in answers}))
    part = [
        "## Plain questions",
        "",
        "A hundred held-back questions ([evals/plain](../evals/plain/held_back.py)): as right in a chat with",
        "tools as in a bare request? *bare* is `Agent().input(question).start()`, *terminal* is",
        "`dovetail chat -p` (with the start of the program), *http* is",
        f"a running server. Commit {commits}.",
        "",
        *sum_up(answers),
    ]
    text = PAGE.read_text(encoding="utf-8")
    text = re.sub(r"\n## Plain questions\n.*", "", text, flags=re.DOTALL)
    PAGE.write_text(text.rstrip() + "\n\n" + "\n".join(part) + "\n", encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Ask, print the table and write the page."""
    parser = argparse.ArgumentParser(prog="make plain", description=__doc__)
    parser.add_argument("--set", choices=list(SETS), default="held-back")
    parser.add_argument(
        "--ways", nargs="+", choices=["bare", "terminal", "http"], default=["bare", "terminal", "http"]
    )
    parser.add_argument("--only", nargs="+", choices=list(held_back.QUESTIONS), default=[])
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args(arguments)
    for way in options.ways:
        asker = Asker()
        with open_place() as place:
            write_files(SETS[options.set].FOLDER).prepare(place.folder)
            try:
                run(
                    way,
                    options,
                    {"bare": ask_bare, "terminal": ask_in_terminal, "http": asker.ask}[way],
                    place,
                )
            finally:
                asker.close()
    answers = [each for each in load() if each.asked == options.set]
    print("\n".join(sum_up(answers)))
    if options.set == "held-back":
        write_page(answers)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
