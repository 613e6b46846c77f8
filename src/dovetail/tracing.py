"""OpenTelemetry spans; nothing is imported or done unless tracing is configured."""

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
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
    """Open a span around some work, or yield None if tracing is off.

    Attributes that are None are omitted; `carrier` is the headers of a request that may belong to a trace.
    """
    if not _is_traced():
        yield None
        return
    with _trace.get_tracer("dovetail", __version__).start_as_current_span(
        name,
        context=_find_parent(carrier),
        kind=_trace.SpanKind[kind],
        attributes=_leave_out_none(attributes),
        record_exception=False,
        set_status_on_exception=False,
    ) as opened:
        try:
            yield opened
        except Exception as error:
            _record_exception(opened, error)
            raise


def _record_exception(span: Any, error: Exception) -> None:
    status = getattr(error, "status", None)
    span.set_attribute("error.type", type(error).__name__ if status is None else str(status))
    span.set_status(_trace.StatusCode.ERROR, type(error).__name__)
    with suppress(Exception):  # the text of an exception may raise one itself
        span.set_status(_trace.StatusCode.ERROR, f"{type(error).__name__}: {error}")
        span.record_exception(error)


def _is_traced() -> bool:
    """Return whether a tracer provider is configured; the package alone may be installed by others."""
    if "opentelemetry.trace" not in sys.modules:
        return False
    return not isinstance(_trace.get_tracer_provider(), _trace.ProxyTracerProvider)


def _find_parent(carrier: Mapping[str, str] | None) -> Any:
    """Return the caller's span from the headers; None selects the current span, if any."""
    is_inside = _trace.get_current_span().get_span_context().is_valid
    return None if carrier is None or is_inside else _propagate.extract(carrier)


def record(span: Any, attributes: Mapping[str, Any], *, error: str | None = None) -> None:
    """Set the attributes known at the end; an error marks the span as failed."""
    if span is None:
        return
    span.set_attributes(_leave_out_none(attributes))
    if error is not None:
        span.set_attribute("error.type", error)
        span.set_status(_trace.StatusCode.ERROR)


def _leave_out_none(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if value is not None}
