"""Ask the questions of a visit through the face where a reader meets them."""

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial

from evals.reality.chat import Service
from evals.reality.outcome import Outcome
from evals.reality.pages import ROOT, find_blocks, name_block, name_step, steps_of
from evals.reality.place import Place, find_port, open_place
from evals.reality.visit import Question, Visit
from recipe_pages import Step


def ask(visit: Visit, run: int) -> Iterator[tuple[Question, Outcome]]:
    """Yield each question of a visit with its outcome."""
    with open_place(seed=run) as place:
        visit.set_up.prepare(place.folder)
        yield from FACES[visit.face](visit, place, run)


def _in_terminal(visit: Visit, place: Place, run: int) -> Iterator[tuple[Question, Outcome]]:
    for question in visit.questions:
        words = question.words or ("chat", "-p", question.send or question.text)
        command = ["dovetail", *words]
        run_command = partial(place.run, command, visit.seconds, question.typed)
        yield question, _timed(run_command)


def _over_http(visit: Visit, place: Place, run: int) -> Iterator[tuple[Question, Outcome]]:
    port = find_port()
    address = f"http://127.0.0.1:{port}"
    with (
        place.leave_running(["dovetail", "serve", "--port", str(port)]),
        closing(Service(address, place, streams=run != 2)) as service,
    ):
        for question in visit.questions:
            if question.words:
                service_words = [word.replace(":8000", f":{port}") for word in question.words]
                place.environment["DOVETAIL_URL"] = address
                yield question, _timed(lambda words=service_words: place.run(words, visit.seconds))
            else:
                yield question, _timed(lambda question=question: service.ask(question, visit.seconds))


def _as_program(visit: Visit, place: Place, run: int) -> Iterator[tuple[Question, Outcome]]:
    if visit.program:
        [question] = visit.questions
        command = [sys.executable, visit.program]
        yield question, _timed(lambda: place.run(command, visit.seconds, question.typed))
        return
    page, results = ROOT / visit.place, place.folder.parent / "results.jsonl"
    command = [sys.executable, "-m", "evals.reality.blocks", str(page), str(results)]
    whole = place.run(command, visit.seconds * len(visit.questions))
    records = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    named = {name_block(block.code, page): block.line for block in find_blocks(page) if block.replies}
    for question in visit.questions:
        record = next((each for each in records if each["line"] == named.get(question.text)), None)
        if record is None:
            yield question, Outcome(problem=whole.problem or "the page does not ask this")
            continue
        made = [call for call in whole.calls if record["begin"] <= call.time <= record["end"]]
        yield (
            question,
            Outcome(
                text=record["text"],
                problem=record["problem"],
                calls=made,
                folder=place.folder,
                seconds=record["end"] - record["begin"],
            ),
        )


def _as_page(visit: Visit, place: Place, run: int) -> Iterator[tuple[Question, Outcome]]:
    """Save and run every block of a how-to; a question is a step."""
    swap = f":{find_port()}"
    place.environment["PORT"] = swap[1:]
    wanted = {question.text: question for question in visit.questions}
    with ExitStack() as stack:
        for step in steps_of(ROOT / visit.place):
            code = step.code.replace(":8000", swap)
            if step.title:
                path = place.folder / step.title
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(code, encoding="utf-8")
            elif step.stays:
                stack.enter_context(place.leave_running(["bash", "-eu", "-c", code]))
            else:
                yield from _run_step(step, code, visit, place, wanted)


def _run_step(
    step: Step, code: str, visit: Visit, place: Place, wanted: dict[str, Question]
) -> Iterator[tuple[Question, Outcome]]:
    outcome = _timed(lambda: place.run(["bash", "-eu", "-c", code], visit.seconds))
    question = wanted.get(name_step(step)) if step.replies else wanted.get(shlex.split(step.code)[0])
    if question is not None:
        yield question, outcome


def _timed(run: Callable[[], Outcome]) -> Outcome:
    begin = time.monotonic()
    try:
        outcome = run()
    except (OSError, subprocess.SubprocessError, RuntimeError) as error:
        outcome = Outcome(problem=f"{type(error).__name__}: {error}")
    outcome.seconds = time.monotonic() - begin
    return outcome


FACES = {"terminal": _in_terminal, "http": _over_http, "program": _as_program, "page": _as_page}
