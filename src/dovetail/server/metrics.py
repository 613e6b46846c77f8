"""Metrics for Prometheus: counts and durations of requests, runs, calls and tokens.

With several worker processes (`PROMETHEUS_MULTIPROC_DIR` is set) each scrape returns the sums of all workers.
"""

import asyncio
import logging
import os
import time
from contextlib import nullcontext, suppress

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from dovetail.app import Dovetail
from dovetail.errors import StoreError
from dovetail.events.delta import RequestTiming, Usage
from dovetail.events.model_events import ToolInputEnd
from dovetail.events.run_context import entered
from dovetail.events.run_events import AskRequest, Event, RunEnd, RunStart, ToolEnd, ToolStart, TurnEnd
from dovetail.lazy import lazy
from dovetail.runs.service import Runs
from dovetail.runs.task import LiveRun
from dovetail.stall import Stall

_multiprocess = lazy("prometheus_client.multiprocess")
logger = logging.getLogger("dovetail.runs")

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable that names the folder in which workers keep their metrics."""

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SAMPLE_SECONDS = 2.0
LEAST_WAIT = 0.1
"""Seconds in the queue that are worth a word in the log."""
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900)


class Metrics:
    """All metrics of one server; names begin with `dovetail_`."""

    def __init__(self) -> None:
        disable_created_metrics()  # they would double the output and have no reader
        self._registry = registry = CollectorRegistry()
        self.requests = Counter(
            "dovetail_http_requests", "Requests.", ["method", "route", "status"], registry=registry
        )
        self.request_seconds = Histogram(
            "dovetail_http_request_seconds",
            "How long responses took, including streams.",
            ["method", "route"],
            registry=registry,
            buckets=_SECONDS,
        )
        self.runs = Counter(
            "dovetail_runs", "Runs that ended, by their reason.", ["agent", "reason"], registry=registry
        )
        self.limits = Counter(
            "dovetail_runs_limited",
            "Runs that reached a limit, with or without an answer.",
            ["agent", "limit"],
            registry=registry,
        )
        self.run_seconds = Histogram(
            "dovetail_run_seconds", "How long runs took.", ["agent"], registry=registry, buckets=_SECONDS
        )
        self.tokens = Counter("dovetail_tokens", "Tokens of models.", ["model", "kind"], registry=registry)
        self.cost = Counter(
            "dovetail_cost", "Cost of models, in the currency of their prices.", ["model"], registry=registry
        )
        self.calls = Counter("dovetail_tool_calls", "Calls of tools.", ["tool", "status"], registry=registry)
        self.call_seconds = Histogram(
            "dovetail_tool_call_seconds",
            "How long calls took.",
            ["tool"],
            registry=registry,
            buckets=_SECONDS,
        )
        self.stalls = Counter(
            "dovetail_loop_blocked_seconds",
            "Seconds for which something blocked the event loop, by its tool, if it was one.",
            ["tool"],
            registry=registry,
        )
        self.first_token_seconds = self._histogram(
            "dovetail_model_first_token_seconds", "How long models took to begin their answers.", "model"
        )
        self.model_seconds = self._histogram(
            "dovetail_model_request_seconds", "How long requests to models took, with their retries.", "model"
        )
        self.wait_seconds = self._histogram(
            "dovetail_queue_wait_seconds", "How long runs waited until a process worked on them.", "queue"
        )
        self.retries = Counter(
            "dovetail_model_retries",
            "Attempts at requests to models that failed and were repeated.",
            ["model", "status"],
            registry=registry,
        )
        self.asks = Counter("dovetail_asks", "Questions to people and browsers.", ["kind"], registry=registry)
        self._streams = self._gauge("dovetail_streams_active", "Streams in progress.")
        self._runs_active = self._gauge("dovetail_runs_active", "Runs in progress.")
        self._runs_queued = self._stored_gauge("dovetail_runs_queued", "Runs that no process works on yet.")
        self._runs_waiting = self._stored_gauge("dovetail_runs_waiting", "Runs that only wait for answers.")
        self._asks_open = self._stored_gauge("dovetail_asks_open", "Questions waiting for an answer.")
        if not is_shared():
            ProcessCollector(registry=registry)

    def add_stream(self, change: int) -> None:
        """Count a stream that begins or ends."""
        self._streams.inc(change)

    def add_usage(self, model: str, usage: Usage) -> None:
        """Count the tokens and the cost of a turn."""
        kinds = {
            "input": usage.input_tokens,
            "output": usage.output_tokens,
            "cached": usage.cached_tokens,
            "cache_write": usage.cache_write_tokens,
            "reasoning": usage.reasoning_tokens,
        }
        for kind, tokens in kinds.items():
            self.tokens.labels(model, kind).inc(tokens)
        if usage.cost is not None:
            self.cost.labels(model).inc(usage.cost)

    def add_stall(self, stall: Stall) -> None:
        """Count the time for which something held the event loop."""
        self.stalls.labels(stall.tool).inc(stall.seconds)

    def add_timing(self, model: str, timing: RequestTiming) -> None:
        """Count how long a request to a model took."""
        self.model_seconds.labels(model).observe(timing.seconds)
        if timing.first_token is not None:
            self.first_token_seconds.labels(model).observe(timing.first_token)
        for status in timing.retries:
            self.retries.labels(model, status).inc()

    def sample(self, *, runs: int) -> None:
        """Set the gauges of this process."""
        self._runs_active.set(runs)

    def sample_stored(self, *, queued: int, waiting: int, asks: int) -> None:
        """Set the gauges of what is in the database, whichever process it belongs to."""
        self._runs_queued.set(queued)
        self._runs_waiting.set(waiting)
        self._asks_open.set(asks)

    def write(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        if not is_shared():
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        _multiprocess.MultiProcessCollector(registry)
        return generate_latest(registry)

    def _histogram(self, name: str, text: str, label: str) -> Histogram:
        return Histogram(name, text, [label], registry=self._registry, buckets=_SECONDS)

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(name, text, registry=self._registry, multiprocess_mode="livesum")

    def _stored_gauge(self, name: str, text: str) -> Gauge:
        return Gauge(name, text, registry=self._registry, multiprocess_mode="livemostrecent")


class RunMetrics:
    """Count and log the events of runs."""

    def __init__(self, app: Dovetail, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._names: dict[str, str] = {}
        self._started: set[str] = set()
        self._models: dict[tuple[str, ...], str] = {}
        """The models of sub-agents in progress, by their path."""

    def follow(self, runs: Runs) -> None:
        """Count what happens in the runs of this process from now on."""
        runs.observe(self.observe)
        runs.stalls.on_stall = self._metrics.add_stall

    def observe(self, live: LiveRun, event: Event, path: tuple[str, ...]) -> None:
        """Count one event of a run or of its children."""
        if isinstance(event, ToolInputEnd | ToolStart | ToolEnd):
            self._observe_call(event, path)
        elif isinstance(event, TurnEnd):
            model = self._models.get(path) or live.spec.model
            self._metrics.add_usage(model, event.usage)
            if event.timing is not None:
                self._metrics.add_timing(model, event.timing)
        elif isinstance(event, AskRequest):
            self._metrics.asks.labels(event.kind).inc()
            asked = {"ask_id": event.ask_id, "kind": event.kind, "call_id": event.call_id}
            logger.info("ask", extra={"fields": {**asked, "tool": event.payload.get("tool")}})
        elif len(path) > 1:
            self._observe_child(event, path)
        elif isinstance(event, RunEnd):
            # Ends are shown by the writer, whose task belongs to whichever run woke it.
            with entered(live.scope) if live.scope is not None else nullcontext():
                self._observe_end(live, event)

    def sample(self) -> None:
        """Set the gauges of this process."""
        self._metrics.sample(runs=self._app.runs.running)

    async def sample_stored(self) -> None:
        """Set the gauges of what is in the database; they stay as they were while it is away."""
        runs = self._app.runs
        with suppress(StoreError):
            phases, asks = await runs.store.count_unattended(), await runs.asks.store.count_open()
            queued, waiting = phases.get("queued", 0), phases.get("waiting", 0)
            self._metrics.sample_stored(queued=queued, waiting=waiting, asks=asks)

    async def keep_sampling(self) -> None:
        """Sample repeatedly, so that a scrape of another process finds the numbers."""
        while True:
            self.sample()
            await asyncio.sleep(SAMPLE_SECONDS)

    def _observe_call(self, event: ToolInputEnd | ToolStart | ToolEnd, path: tuple[str, ...]) -> None:
        key = "/".join((*path, event.call_id))
        if isinstance(event, ToolInputEnd):
            self._names[key] = event.name
        elif isinstance(event, ToolStart):
            self._started.add(key)
        else:
            name = self._names.pop(key, "")
            # A name that a model made up must not become a label.
            is_known = key in self._started or name in self._app.tools.snapshot()
            self._started.discard(key)
            label = name if is_known and name else "unknown"
            self._metrics.calls.labels(label, event.status).inc()
            self._metrics.call_seconds.labels(label).observe(event.duration)

    def _observe_child(self, event: Event, path: tuple[str, ...]) -> None:
        if isinstance(event, RunStart):
            self._models[path] = event.model
        elif isinstance(event, RunEnd):
            self._models.pop(path, None)

    def _observe_end(self, live: LiveRun, event: RunEnd) -> None:
        agent, seconds = live.spec.agent, time.monotonic() - live.since
        self._metrics.runs.labels(agent, event.reason).inc()
        self._metrics.run_seconds.labels(agent).observe(seconds)
        self._metrics.wait_seconds.labels(live.spec.queue).observe(live.waited)
        limit = event.limit or (event.reason if event.notice is not None and event.reason != "goal" else None)
        if limit is not None:
            self._metrics.limits.labels(agent, limit).inc()
        fields = {
            "agent": agent,
            "model": live.spec.model,
            "reason": event.reason,
            "input_tokens": event.usage.input_tokens,
            "output_tokens": event.usage.output_tokens,
            "duration": round(seconds, 3),
        }
        if live.waited >= LEAST_WAIT:
            fields["waited"] = round(live.waited, 3)
        if event.usage.cost is not None:
            fields["cost"] = event.usage.cost
        if limit is not None:
            fields["limit"] = limit
        if event.error is not None:
            fields["error"] = f"{event.error.get('type')}: {event.error.get('message')}"
        logger.log(
            logging.WARNING if event.error is not None else logging.INFO,
            "run ended",
            extra={"fields": fields},
        )


def is_shared() -> bool:
    """Whether several processes write their metrics into one folder."""
    return SHARED_FOLDER in os.environ


def forget_process(process_id: int) -> None:
    """Remove the gauges of a worker that has ended."""
    _multiprocess.mark_process_dead(process_id, os.environ[SHARED_FOLDER])
