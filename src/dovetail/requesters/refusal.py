"""What a model's server says when it rejects a request: the status, the body and the headers."""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from dovetail.data.shapes import is_list, is_mapping, read_number
from dovetail.lazy import lazy
from dovetail.requesters.overflow import is_overflow, read_limit

email_dates = lazy("email.utils")
REQUEST_ID_HEADERS = ("x-request-id", "request-id", "x-ms-request-id", "x-amzn-requestid")

_UNSUPPORTED = re.compile(
    r"(?i)unsupported|(not|n't) support|not permitted|not allow|not enabled|unavailable|not available|unknown"
    r"|unrecognized|unexpected|extra (field|input)|cannot find field|deprecated|only the default"
)
_VALUE = re.compile(
    r"(?i)unsupported value(?!.*only the default)|must be|one of|between|\brange|at most|at least|less than"
    r"|greater|is invalid|mandatory|cannot be disabled|only works|supported values"
)
_SCHEMA = re.compile(
    r"(?i)invalid (json )?schema|schema:|\.schema\b|propert|keyword|grammar|too complex|\$ref"
)
_WRONG_KEY = ("api key not valid", "api key not found", "api key expired")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A rejected request: the status, the server's message, and its code and type of error.

    `retry_after` are the seconds to wait, if the body says so, as Google's does; `param` is the field that
    OpenAI complains about, such as `reasoning.effort`.
    """

    status: int
    message: str
    code: str
    retry_after: float | None = None
    param: str = ""

    @classmethod
    def read(cls, status: int, body: bytes) -> Self:
        """Read the refusal from a body of any shape."""
        text = body[:4000].decode("utf-8", "replace").strip()
        try:
            return cls._read_data(status, json.loads(body), text)
        except (ValueError, RecursionError):  # not JSON, or nested too deeply
            return cls(status, text[:300], "")

    @classmethod
    def _read_data(cls, status: int, data: Any, text: str) -> Self:
        first = data[0] if is_list(data) and data else data
        error = first.get("error", first) if is_mapping(first) else first
        if not is_mapping(error):
            return cls(status, str(error)[:1000], "")
        message = error.get("message") or error.get("detail") or text[:300]
        delay = _read_delay(error.get("details"))
        named = [error.get(name) for name in ("code", "type", "status")]
        code = " ".join(str(part) for part in [*named, *_list_quotas(error.get("details"))] if part)
        return cls(status, str(message)[:1000], code[:1000], delay, str(error.get("param") or "")[:100])

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed later."""
        return is_transient(self.status) and not self.exceeds_quota

    @property
    def exceeds_quota(self) -> bool:
        """Whether the account has no credit left, or has reached its own limit."""
        return (
            self.status == 402
            or any(code in self.code for code in ("insufficient_quota", "billing", "spend_limit", "PerDay"))
            or "credit balance" in self.message.lower()
        )

    @property
    def refuses_tool_choice(self) -> bool:
        """Whether the server says that it does not take this `tool_choice`; OpenRouter does so with 404."""
        return self.status in (400, 404, 422) and self.mentions(("tool_choice", "tool choice", "toolChoice"))

    @property
    def refuses_tools(self) -> bool:
        """Whether the server says that the model does not support tools."""
        return self.status in (400, 404, 422) and self.mentions(
            (
                "not support tools",
                "not support function",
                "tool use",
                "tool_choice",
                "--enable-auto-tool-choice",
                "Function calling is not enabled",
            )
        )

    @property
    def is_unsupported(self) -> bool:
        """Whether the server says that it does not take an option at all, whatever its value."""
        return _UNSUPPORTED.search(self.message) is not None and not self.rejects_value

    @property
    def rejects_value(self) -> bool:
        """Whether the server says that the value of an option is wrong; another one may be right."""
        return _VALUE.search(self.message) is not None

    @property
    def rejects_schema(self) -> bool:
        """Whether the server finds fault with a schema; another one may be right."""
        return _SCHEMA.search(self.message) is not None

    def mentions(self, words: tuple[str, ...]) -> bool:
        """Return whether the server's message contains one of these words."""
        return any(word in self.message for word in words)

    @property
    def exceeds_context(self) -> bool:
        """Whether the server says that the messages are too long for the model."""
        return self.status in (400, 413, 422, 500) and is_overflow(self.message, self.code)

    @property
    def context_limit(self) -> int | None:
        """The model's context in tokens, if the message names it."""
        return read_limit(self.message)

    @property
    def refuses_key(self) -> bool:
        """Whether the server does not accept the key."""
        said = self.message.lower()
        return self.status in (401, 403) or any(words in said for words in _WRONG_KEY)

    @property
    def names_model(self) -> bool:
        """Whether the server says that the model does not exist."""
        said = self.message.lower()
        if "model_not_found" in self.code or "DeploymentNotFound" in self.code:
            return True
        if "not_found" in self.code and said.startswith("model"):
            return True
        return self.status in (400, 404) and "model" in said and ("not found" in said or "not exist" in said)


def is_transient(status: int) -> bool:
    """Return whether a status stands for a temporary failure."""
    return status in (408, 409, 425, 429) or (status >= 500 and status != 501)


def find_request_id(headers: Mapping[str, str]) -> str | None:
    """Return the id by which the provider identifies a request, if any."""
    return next((headers[name] for name in REQUEST_ID_HEADERS if name in headers), None)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, sent as a number or as a date."""
    milliseconds = read_number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return max(milliseconds / 1000, 0.0)
    value = headers.get("retry-after", "")
    seconds = read_number(value)
    return _read_date(value) if seconds is None else max(seconds, 0.0)


def _read_delay(details: Any) -> float | None:
    """Return the seconds in Google's `RetryInfo`, written as `37s`."""
    for detail in details if is_list(details) else ():
        delay = detail.get("retryDelay") if is_mapping(detail) else None
        seconds = read_number(delay.removesuffix("s")) if isinstance(delay, str) else None
        if seconds is not None:
            return max(seconds, 0.0)
    return None


def _list_quotas(details: Any) -> list[str]:
    """Return the names of the quotas that Google says are exceeded, such as `GenerateRequestsPerDay…`."""
    found = [detail.get("violations") for detail in details if is_mapping(detail)] if is_list(details) else []
    quotas = [quota for violations in found if is_list(violations) for quota in violations]
    return [str(quota.get("quotaId"))[:100] for quota in quotas if is_mapping(quota)]


def _read_date(value: str) -> float | None:
    try:
        return max(email_dates.parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError, OSError):  # not a date, or out of range
        return None
