"""Print the cost of one tool call: `python -m benchmarks.tool_call [--no-peer]`."""

import sys

from benchmarks.harness import Row, find_peer, report, run_peer
from benchmarks.tool_call.function import add
from benchmarks.tool_call.loops import measure_async
from dovetail.events.call import ToolCall
from dovetail.policy import Policy, PolicyRule
from dovetail.tools import RunContext, ToolRunner, ToolSnapshot, make_tool

TARGET = 0.3
PEERS = {
    "langchain": (["langchain-core==1.7.2"], "benchmarks.tool_call.peer_langchain"),
    "pydantic-ai": (["pydantic-ai-slim==2.66.0"], "benchmarks.tool_call.peer_pydantic_ai"),
}


def main() -> int:
    """Measure our pipeline and the peers; return the exit status."""
    ours = measure_ours()
    own = ours["run_batch, text arguments"] - ours["add(1)"]
    rows = [
        Row(f"dovetail {name}", seconds / own, None, "x ours", _show(seconds))
        for name, seconds in ours.items()
    ]
    if "--no-peer" not in sys.argv:
        for peer, (requirements, module) in PEERS.items():
            times = run_peer(find_peer(peer, requirements), module)
            for name, seconds in times.items():
                if name == "add(1)":
                    continue
                cost = seconds - times["add(1)"]
                target = TARGET if name == "ainvoke of arguments" else None
                rows.append(Row(f"ours / {peer} {name}", own / cost, target, "x", _show(seconds)))
    return report("One tool call, without the function's own time", rows)


def measure_ours() -> dict[str, float]:
    """Measure our pipeline: as the loop calls it, with parsed arguments, and with everything enabled."""
    snapshot = ToolSnapshot.of([make_tool(add)])
    runner, scope = ToolRunner(), RunContext(emit=lambda event: None, run_path=("run",))
    text = ToolCall(call_id="call", name="add", arguments='{"a": 1}')
    mapping = ToolCall(call_id="call", name="add", arguments={"a": 1})
    records: list[object] = []
    strict = ToolRunner(
        Policy([PolicyRule(action="deny", tool="add", arguments={"a": r"\d{3,}"})]),
        audit=lambda record: records.clear() or records.append(record),
    )
    return measure_async(
        {
            "add(1)": lambda: add(1),
            "run_batch, text arguments": lambda: runner.run_batch(snapshot, [text], scope),
            "run_batch, arguments as data": lambda: runner.run_batch(snapshot, [mapping], scope),
            "run_batch, audit and pattern rule": lambda: strict.run_batch(snapshot, [text], scope),
        }
    )


def _show(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us"


if __name__ == "__main__":
    sys.exit(main())
