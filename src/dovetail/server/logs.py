"""Log lines for machines and people: `key=value` or JSON, with the ids of the request and the run.

Warnings of other packages and of extension folders are lines of the same form. A line never contains a
secret: those of the settings, and keys that were entered, are masked wherever they occur.
"""

import json
import logging
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dovetail.data.secrets import SecretMask
from dovetail.data.shapes import is_mapping
from dovetail.data.visible import show_controls, show_in_json
from dovetail.events.run_context import get_request_context
from dovetail.settings import Settings
from dovetail.settings.sections import ServerSettings

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_IDS = ("request_id", "owner", "session_id", "run_id", "call_id")


@contextmanager
def write_logs(settings: Settings, stream: "SupportsWrite[str] | None" = None) -> Generator[None]:
    """Configure the logs by the settings `server.log_format` and `server.log_level`.

    Of packages other than ours, warnings and errors are written.
    """
    choices = settings.section(ServerSettings)
    formatter = LineFormatter(SecretMask.of(settings), is_json=choices.log_format == "json")
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(formatter)
    others = logging.StreamHandler(stream or sys.stderr)
    others.setFormatter(formatter)
    others.setLevel(logging.WARNING)
    logging.root.addHandler(others)
    logger = logging.getLogger("dovetail")
    before = (logger.level, logger.propagate)
    logger.addHandler(handler)
    logger.setLevel(choices.log_level.upper())
    logger.propagate = False
    try:
        yield
    finally:
        logging.root.removeHandler(others)
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]


class LineFormatter(logging.Formatter):
    """One line per record; `extra={"fields": {...}}` adds fields to it."""

    def __init__(self, mask: SecretMask, *, is_json: bool) -> None:
        super().__init__()
        self._mask = mask
        self._is_json = is_json

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line; in text a traceback follows on lines of its own."""
        line = self._describe(record)
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        if self._is_json:
            data = {**line, "exception": trace} if trace else line
            text = show_in_json(json.dumps(data, ensure_ascii=False, default=str))
        else:
            text = " ".join(f"{name}={_quote(value)}" for name, value in line.items())
            text += "".join(f"\n    {show_controls(row)}" for row in trace.split("\n") if row)
        return self._mask.apply(text)

    def _describe(self, record: logging.LogRecord) -> dict[str, Any]:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        context = get_request_context()
        ids = {name: value for name in _IDS if (value := getattr(context, name, None)) is not None}
        message, fields = _read_words(record)
        return {
            "time": time.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message,
            **ids,
            **fields,
        }


def _read_words(record: logging.LogRecord) -> tuple[str, Mapping[str, Any]]:
    message = record.getMessage()
    if record.name == "dovetail.audit":  # its message is the whole record of a call as JSON
        fields = {name: value for name, value in json.loads(message).items() if value not in (None, "", [])}
        fields.pop("time", None)
        return "call", fields
    fields = getattr(record, "fields", None)
    return message, fields if is_mapping(fields) else {}


def _quote(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    is_plain = text and not any(
        letter.isspace() or letter in '"=' or not letter.isprintable() for letter in text
    )
    return text if is_plain else show_in_json(json.dumps(text, ensure_ascii=False))
