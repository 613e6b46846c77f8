"""Spans for whoever traces the program with OpenTelemetry; nothing is imported or done otherwise."""

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from dovetail.lazy import lazy
from dovetail.version import __version__

_trace = lazy("opentelemetry.trace")
_propagate = lazy("opentelemetry.propagate")


@contextmanager
def span(
    name: str,
    attributes: Mapping[str, Any],
    *,
    kind: Literal["INTERNAL", "SERVER", "CLIENT"] = "INTERNAL",
    carrier: Mapping[str, str] | None = None,
) -> Generator[Any]:
    """A span around some work, or None when nobody traces.

    Attributes that are None are left out; `carrier` are the headers of a request that may belong to a trace.
    """
    if not _is_traced():
        yield None
        return
    with _trace.get_tracer("dovetail", __version__).start_as_current_span(
        name,
        context=_find_parent(carrier),
        kind=_trace.SpanKind[kind],
        attributes=_leave_out_none(attributes),
    ) as opened:
        yield opened


def _is_traced() -> bool:
    """Whether somebody has said where spans go; the package alone comes along with others."""
    if "opentelemetry.trace" not in sys.modules:
        return False
    return not isinstance(_trace.get_tracer_provider(), _trace.ProxyTracerProvider)


def _find_parent(carrier: Mapping[str, str] | None) -> Any:
    """The caller's span, by the headers; None for the one around us, if there is one."""
    is_inside = _trace.get_current_span().get_span_context().is_valid
    return None if carrier is None or is_inside else _propagate.extract(carrier)


def record(span: Any, attributes: Mapping[str, Any], *, error: str | None = None) -> None:
    """Put what is known at the end on the span; an error marks it as failed."""
    if span is None:
        return
    span.set_attributes(_leave_out_none(attributes))
    if error is not None:
        span.set_attribute("error.type", error)
        span.set_status(_trace.StatusCode.ERROR)


def _leave_out_none(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if value is not None}
