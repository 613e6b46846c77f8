"""Print how long a prompt takes to render: `python -m benchmarks.prompt [--no-peer]`."""

import sys

from benchmarks.harness import Row, find_peer, measure, report, run_peer
from benchmarks.prompt.by_hand import render, render_messages
from benchmarks.prompt.cases import CASES
from dovetail import Prompt
from dovetail.settings import default_settings

TARGETS = {"small": 6, "large": 3}
PEER = ("agently", ["agently==4.0.7.1"])


def main() -> int:
    """Measure both prompts in both forms; return the exit status."""
    rows: list[Row] = []
    times: dict[str, float] = {}
    texts: dict[str, object] = {}
    for name, case in CASES.items():
        data = case()
        prompt = Prompt(data, settings=default_settings())
        functions = {
            f"{name} text": prompt.to_text,
            f"{name} messages": prompt.to_messages,
            f"{name} text by hand": lambda data=data: render(data),
            f"{name} messages by hand": lambda data=data: render_messages(data),
            f"{name} made and rendered": lambda data=data: Prompt(data).to_messages(),
        }
        texts |= {work: function() for work, function in functions.items()}
        times |= measure(functions)
        for form in ("text", "messages"):
            work = f"{name} {form}"
            if texts[work] != texts[f"{work} by hand"]:
                raise SystemExit(f"{work}: the hand-written text differs.")
            ratio = times[work] / times[f"{work} by hand"]
            rows.append(Row(work, ratio, TARGETS[name], "x by hand", _microseconds(times[work])))
        work = f"{name} made and rendered"
        ratio = times[work] / times[f"{name} messages by hand"]
        rows.append(Row(work, ratio, None, "x by hand", _microseconds(times[work])))
    if "--no-peer" not in sys.argv:
        rows += _measure_peer(times, texts)
    return report("Render a prompt", rows)


def _measure_peer(times: dict[str, float], texts: dict[str, object]) -> list[Row]:
    name, requirements = PEER
    output = run_peer(find_peer(name, requirements), "benchmarks.prompt.with_agently")
    rows: list[Row] = []
    for work, seconds in output["times"].items():
        # The peer writes `- title: value` where rule P108 says `- title : value`.
        same = (
            "same text"
            if repr(output["texts"][work]) == repr(texts[work]).replace(" : ", ": ")
            else "other text"
        )
        ratio = seconds / times[f"{work} by hand"]
        rows.append(Row(f"{name} {work}", ratio, None, "x by hand", f"{_microseconds(seconds)}, {same}"))
    return rows


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us"


if __name__ == "__main__":
    raise SystemExit(main())
