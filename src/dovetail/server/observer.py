"""Watches runs for logs and metrics; sees ends of turns, calls and runs, never tokens."""

import asyncio
import logging
import time

from dovetail.app import Dovetail
from dovetail.messages.event import AskRequest, Event, RunEnd, ToolEnd, ToolStart, TurnEnd
from dovetail.messages.model_event import ToolInputEnd
from dovetail.runs.live import LiveRun
from dovetail.server.metrics import Metrics

logger = logging.getLogger("dovetail.runs")
SAMPLE_SECONDS = 2.0


class RunObserver:
    """Counts and logs what runs do."""

    def __init__(self, app: Dovetail, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._names: dict[str, str] = {}
        self._started: set[str] = set()

    def observe(self, live: LiveRun, event: Event, path: tuple[str, ...]) -> None:
        """Take note of an event of a run, or of a child of it."""
        if isinstance(event, ToolInputEnd | ToolStart | ToolEnd):
            self._observe_call(event, path)
        elif isinstance(event, TurnEnd):
            self._metrics.add_usage(live.spec.model, event.usage)
        elif isinstance(event, AskRequest):
            self._metrics.asks.labels(event.kind).inc()
            logger.info("ask", extra={"fields": {"ask_id": event.ask_id, "kind": event.kind}})
        elif isinstance(event, RunEnd) and len(path) == 1:
            self._observe_end(live, event)

    def sample(self) -> None:
        """Note how much goes on now."""
        runs = self._app.runs
        self._metrics.sample(runs=runs.running, asks=runs.asks.waiting)

    async def keep_sampling(self) -> None:
        """Note it again and again, so that a scrape at another process finds it."""
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

    def _observe_end(self, live: LiveRun, event: RunEnd) -> None:
        agent, seconds = live.spec.agent, time.monotonic() - live.since
        self._metrics.runs.labels(agent, event.reason).inc()
        self._metrics.run_seconds.labels(agent).observe(seconds)
        fields = {
            "agent": agent,
            "model": live.spec.model,
            "reason": event.reason,
            "input_tokens": event.usage.input_tokens,
            "output_tokens": event.usage.output_tokens,
            "duration": round(seconds, 3),
        }
        if event.error is not None:
            fields["error"] = f"{event.error.get('type')}: {event.error.get('message')}"
        logger.log(
            logging.WARNING if event.error is not None else logging.INFO,
            "run ended",
            extra={"fields": fields},
        )
