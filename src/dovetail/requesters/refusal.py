"""Reads what a server says when it refuses a request."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from dovetail.data.numbers import read_number
from dovetail.data.shapes import is_mapping
from dovetail.lazy import lazy

email_dates = lazy("email.utils")

REQUEST_ID_HEADERS = ("x-request-id", "request-id", "x-ms-request-id")


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a refusal says: its status, the server's words, and the server's code and type of error."""

    status: int
    message: str
    code: str

    @classmethod
    def read(cls, status: int, body: bytes) -> Self:
        """The refusal that a body holds, whatever its shape."""
        text = body[:4000].decode("utf-8", "replace").strip()
        try:
            return cls._read_data(status, json.loads(body), text)
        except (ValueError, RecursionError):  # not JSON, or nested beyond all limits
            return cls(status, text[:300], "")

    @classmethod
    def _read_data(cls, status: int, data: Any, text: str) -> Self:
        error = data.get("error", data) if is_mapping(data) else data
        if not is_mapping(error):
            return cls(status, str(error)[:1000], "")
        message = error.get("message") or error.get("detail") or text[:300]
        code = f"{error.get('code') or ''} {error.get('type') or ''}".strip()
        return cls(status, str(message)[:1000], code[:1000])

    @property
    def may_pass(self) -> bool:
        """Whether the same request may work a little later."""
        return may_pass(self.status) and "insufficient_quota" not in self.code

    @property
    def refuses_tools(self) -> bool:
        """Whether the server says that the model cannot call functions."""
        return self.status in (400, 404, 422) and self.mentions(
            (
                "not support tools",
                "not support function",
                "tool use",
                "tool_choice",
                "--enable-auto-tool-choice",
            )
        )

    def mentions(self, words: tuple[str, ...]) -> bool:
        """Whether the server's message has one of these words in it."""
        return any(word in self.message for word in words)

    @property
    def names_model(self) -> bool:
        """Whether the server says that it has no such model."""
        said = self.message.lower()
        return "model_not_found" in self.code or (
            self.status in (400, 404) and "model" in said and ("not found" in said or "not exist" in said)
        )


def may_pass(status: int) -> bool:
    """Whether a status stands for a failure that may pass."""
    return status in (408, 409, 425, 429) or (status >= 500 and status != 501)


def find_request_id(headers: Mapping[str, str]) -> str | None:
    """The id under which the provider's support finds a request."""
    return next((headers[name] for name in REQUEST_ID_HEADERS if name in headers), None)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds a server asks to wait, whether it names them or a date."""
    milliseconds = read_number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return max(milliseconds / 1000, 0.0)
    value = headers.get("retry-after", "")
    seconds = read_number(value)
    return _read_date(value) if seconds is None else max(seconds, 0.0)


def _read_date(value: str) -> float | None:
    try:
        return max(email_dates.parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError, OSError):  # no date, or one that no clock shows
        return None
