"""Ask what is shown and write docs/reality.md: `python -m evals.reality [--only WORDS] [--runs 3] [--again]`.

A result is kept in evals/results, so an interrupted run continues where it stopped. After a change of the
model's code, of the place or of its checks it no longer counts, and the question is asked again. `--only`
takes words of places, faces or questions; `--again` asks also what has a result; `--list` names what would
be asked.
"""

import argparse
import sys
from collections.abc import Sequence

from evals.reality.faces import ask
from evals.reality.outcome import describe_call, find_fault, shorten
from evals.reality.page import RUNS, write_page
from evals.reality.results import Result, Results, find_commit
from evals.reality.shown import VISITS
from evals.reality.visit import Visit


def choose(only: Sequence[str]) -> list[Visit]:
    """Return the visits whose name or questions contain all the words."""
    return [
        visit
        for visit in VISITS
        if all(word in " ".join([visit.name, *(each.text for each in visit.questions)]) for word in only)
    ]


def run_visit(visit: Visit, run: int, results: Results) -> None:
    """Ask the questions of a visit once, print a line for each and keep the results."""
    for question, outcome in ask(visit, run):
        fault = find_fault(outcome, question.checks)
        result = Result(
            visit=visit.name,
            question=question.text,
            run=run,
            fault=fault or "",
            seconds=round(outcome.seconds, 1),
            text=shorten(outcome.text, 500),
            calls=[describe_call(call) for call in outcome.calls],
            commit=find_commit(),
            digest=results.digest_of(visit),
        )
        results.add(result)
        mark = "WRONG" if fault else "ok   "
        print(f"{mark} {outcome.seconds:5.1f} s  {visit.name}, run {run}: {question.text}", flush=True)
        print(f"        {fault or shorten(outcome.text, 100)}", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Ask what has no result yet; return 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="make reality", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], help="words of places, faces or questions")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--again", action="store_true", help="also ask what has a result")
    parser.add_argument("--list", action="store_true", help="name what would be asked")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args(arguments)
    results, visits = Results(), choose(options.only)
    for run in range(1, options.runs + 1):
        for visit in visits if not options.page else []:
            if not options.again and results.has(visit, run):
                continue
            if options.list:
                print(f"{visit.name}, run {run}: {len(visit.questions)} questions")
            else:
                run_visit(visit, run, results)
    if not options.list:
        write_page(results, VISITS)
    wrong = [result for visit in visits for result in results.of(visit) if result.fault]
    print(f"{len(wrong)} wrong answers", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
