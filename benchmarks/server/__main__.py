"""Print the cost of streams on a server and the delay of their tokens.

`python -m benchmarks.server [--short] [--no-peer] [--engine NAME]`: `--short` measures 200 streams only,
`--engine` compares the engine `dbos` or `temporal` with the local one instead.

Streams of 100 tokens at 20 ms begin evenly within two seconds, so that in the end all of them are in
progress. Only the CPU time of the server's processes counts: the model and the users are separate processes.
Several processes of ours are started by `dovetail serve --workers`.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass

from benchmarks.harness import ROOT, Row, report
from benchmarks.server.contestants import DOVETAIL, PEERS, RELAY, Contestant
from benchmarks.server.database import start_postgres
from benchmarks.server.engines import engine_contestant, start_engine, start_engine_servers
from benchmarks.server.process import Server
from benchmarks.server.upstream import PAUSE, TOKENS

COST_TARGET = 2.0
ENGINE_TARGET = 1.3
FIRST_TARGET = 50.0
LATE_TARGET = 100.0
ROUNDS = 5
WARM_UP = 20
UNIT = "x relay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One measurement: CPU microseconds per token, delay of tokens in milliseconds, kB per stream."""

    cpu: float
    late_50: float
    late_99: float
    memory: float
    first: float
    broken: int

    @property
    def detail(self) -> str:
        late = f"late p50 {self.late_50:.1f}, p99 {self.late_99:.0f} ms"
        broken = f", {self.broken} streams incomplete" if self.broken else ""
        cost = f"{self.cpu:.0f} us/token, {self.memory:.0f} kB/stream"
        return f"{cost}, {late}, first token after {self.first:.0f} ms{broken}"


def main() -> int:
    """Measure; return the exit status."""
    peers = () if "--no-peer" in sys.argv else PEERS
    with start_upstream() as upstream:
        if "--engine" in sys.argv:
            return compare_engines(upstream, sys.argv[sys.argv.index("--engine") + 1])
        status = compare_at_200(upstream, peers)
        if "--short" not in sys.argv:
            status |= grow(upstream)
    return status


def compare_at_200(upstream: str, peers: Sequence[Contestant]) -> int:
    """Compare all servers with 200 streams, one process each."""
    with RELAY.start(upstream) as relays, DOVETAIL.start(upstream) as ours:
        relay, seen = measure(relays, ours, 200, lambda relay, ours: ours.cpu / relay.cpu)
    rows = [
        Row("relay", 1.0, None, UNIT, relay.detail),
        Row("dovetail", seen.cpu / relay.cpu, COST_TARGET, UNIT, seen.detail),
    ]
    for peer in peers:
        with peer.start(upstream) as servers:
            put_load(peer, servers, WARM_UP)
            other = put_load(peer, servers, 200)
        rows.append(Row(peer.name, other.cpu / relay.cpu, None, UNIT, other.detail))
    return report("200 streams, one process: CPU per token", rows)


def grow(upstream: str) -> int:
    """Measure more streams on one and two processes; two share a PostgreSQL."""
    rows: list[Row] = []
    for workers in (1, 2):
        with ExitStack() as stack:
            database = stack.enter_context(start_postgres() if workers > 1 else nullcontext(""))
            relays = stack.enter_context(RELAY.start(upstream, workers))
            ours = stack.enter_context(DOVETAIL.start(upstream, workers, database))
            for streams in (200, 500, 1000):
                has_target = (streams, workers) == (500, 2)
                rounds = ROUNDS if has_target else 1
                relay, seen = measure(relays, ours, streams, lambda relay, ours: ours.late_99, rounds)
                work = f"{streams} streams, {workers} worker{'s' * (workers > 1)}"
                target = LATE_TARGET if has_target else None
                rows.append(Row(f"{work}: relay", relay.late_99, None, "ms late", relay.detail))
                rows.append(Row(f"{work}: dovetail", seen.late_99, target, "ms late", seen.detail))
    return report("More streams and processes: delay that 99 % of tokens stay below", rows)


def compare_engines(upstream: str, name: str) -> int:
    """Compare an engine with the local one, with 200 streams, two processes each and a PostgreSQL."""
    rows: list[Row] = []
    local = engine_contestant("local")
    with start_engine(name) as options, start_postgres() as one, start_postgres() as two:
        engine = engine_contestant(name, options)
        for work, is_split in ((name, False), (f"{name}, web and worker apart", True)):
            with (
                local.start(upstream, 2, one) as own,
                start_engine_servers(engine, upstream, two, is_split=is_split) as servers,
            ):
                pair = measure(own, servers, 200, lambda one, two: two.cpu / one.cpu, of=(local, engine))
            before, seen = pair
            per_chat = [each.cpu * TOKENS / 1000 for each in pair]
            cost = f"{per_chat[1]:.1f} ms CPU per chat, local {per_chat[0]:.1f} ms"
            rows.append(Row(f"{work}: CPU", seen.cpu / before.cpu, ENGINE_TARGET, "x local", cost))
            more = f"{seen.first:.0f} ms, local {before.first:.0f} ms; {seen.detail}"
            rows.append(Row(f"{work}: first token", seen.first - before.first, FIRST_TARGET, "ms", more))
    return report(f"200 streams, two processes: the engine {name} and the local one", rows)


def measure(
    relays: Sequence[Server],
    ours: Sequence[Server],
    streams: int,
    order: Callable[[Seen, Seen], float],
    rounds: int = ROUNDS,
    of: tuple[Contestant, Contestant] = (RELAY, DOVETAIL),
) -> tuple[Seen, Seen]:
    """Measure the relay and our server, or others, in turns in alternating order; return the median pair.

    Other load on the machine changes from round to round, but affects both of a pair.
    """
    put_load(of[0], relays, WARM_UP)
    put_load(of[1], ours, WARM_UP)
    pairs: list[tuple[Seen, Seen]] = []
    for number in range(rounds):
        if number % 2:
            seen = put_load(of[1], ours, streams)
            pairs.append((put_load(of[0], relays, streams), seen))
        else:
            relay = put_load(of[0], relays, streams)
            pairs.append((relay, put_load(of[1], ours, streams)))
    return sorted(pairs, key=lambda pair: order(*pair))[rounds // 2]


def put_load(contestant: Contestant, servers: Sequence[Server], streams: int) -> Seen:
    """Open that many streams, and measure what the server spent on them."""
    for server in servers:
        server.forget_peak()
    before = sum(server.cpu_seconds for server in servers)
    memory = sum(server.memory for server in servers)
    seen = run_load(contestant, [server.port for server in servers if server.takes_chats], streams)
    if seen["broken"] and contestant not in PEERS:
        raise SystemExit(f"{contestant.name}: {seen['broken']} of {streams} streams were incomplete")
    cpu = sum(server.cpu_seconds for server in servers) - before
    peak = sum(server.peak_memory for server in servers)
    return Seen(
        cpu=cpu / max(seen["tokens"], 1) * 1e6,
        late_50=seen["late_50"],
        late_99=seen["late_99"],
        first=seen["first_50"],
        broken=int(seen["broken"]),
        memory=(peak - memory) / streams / 1000,
    )


def run_load(contestant: Contestant, ports: Sequence[int], streams: int) -> dict[str, float]:
    """Run the users in a process of their own; return what they measured."""
    numbers = ",".join(map(str, ports))
    command = [sys.executable, "-m", "benchmarks.server.load", str(streams), str(TOKENS * PAUSE), numbers]
    given = json.dumps({"path": contestant.path, "body": contestant.body})
    done = subprocess.run(
        command, input=given, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=200
    )
    return json.loads(done.stdout)


@contextmanager
def start_upstream() -> Iterator[str]:
    """Start the model in its own process; yield its address."""
    command = [sys.executable, "-m", "benchmarks.server.upstream"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


if __name__ == "__main__":
    raise SystemExit(main())
