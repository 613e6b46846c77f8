"""Spans for requests, when the program uses OpenTelemetry; nothing is imported or done otherwise."""

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from dovetail.lazy import lazy
from dovetail.version import __version__

_trace = lazy("opentelemetry.trace")


@contextmanager
def request_span(model: str, **attributes: Any) -> Generator[Any]:
    """A span around one request to a model, named as OpenTelemetry's conventions for models ask."""
    if "opentelemetry.trace" not in sys.modules:
        yield None
        return
    provider, _, name = model.partition(":")
    known = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": name or model,
        **{key: value for key, value in attributes.items() if value is not None},
    }
    tracer = _trace.get_tracer("dovetail", __version__)
    with tracer.start_as_current_span(f"chat {name or model}", attributes=known) as span:
        yield span


def record(span: Any, attributes: Mapping[str, Any]) -> None:
    """Put what is known at the end on the span; a value of None is left out."""
    if span is not None:
        span.set_attributes({key: value for key, value in attributes.items() if value is not None})
