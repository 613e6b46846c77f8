"""Turn the failures of a model API into errors that say what happened and what helps, without any key.

A server refuses with a status and a body (`Refusal`), or the connection fails (`explain_connection`).
`Failures` makes the errors of one endpoint.
"""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from dovetail.data.clean import clean_text
from dovetail.data.secrets import hide, hide_passwords
from dovetail.data.shapes import is_mapping, read_number
from dovetail.data.text import did_you_mean, expected_one_of
from dovetail.errors import ModelError, TransientModelError
from dovetail.lazy import lazy

aiohttp = lazy("aiohttp")
email_dates = lazy("email.utils")
REQUEST_ID_HEADERS = ("x-request-id", "request-id", "x-ms-request-id")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A rejected request: the status, the server's message, and its code and type of error."""

    status: int
    message: str
    code: str

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
        error = data.get("error", data) if is_mapping(data) else data
        if not is_mapping(error):
            return cls(status, str(error)[:1000], "")
        message = error.get("message") or error.get("detail") or text[:300]
        code = f"{error.get('code') or ''} {error.get('type') or ''}".strip()
        return cls(status, str(message)[:1000], code[:1000])

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed later."""
        return is_transient(self.status) and "insufficient_quota" not in self.code

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
            )
        )

    def mentions(self, words: tuple[str, ...]) -> bool:
        """Return whether the server's message contains one of these words."""
        return any(word in self.message for word in words)

    @property
    def names_model(self) -> bool:
        """Whether the server says that the model does not exist."""
        said = self.message.lower()
        return "model_not_found" in self.code or (
            self.status in (400, 404) and "model" in said and ("not found" in said or "not exist" in said)
        )


def is_transient(status: int) -> bool:
    """Return whether a status stands for a temporary failure."""
    return status in (408, 409, 425, 429) or (status >= 500 and status != 501)


@dataclass(frozen=True, slots=True)
class _Advice:
    """The meaning of a status or an error code, and what helps."""

    statuses: tuple[int, ...]
    codes: tuple[str, ...]
    meaning: str
    hint: str


_ADVICE = [
    _Advice(
        (),
        ("context_length", "string_above_max"),
        "rejected the request: context length exceeded",
        "Shorten the chat history or the attachments, or use a model with a longer context.",
    ),
    _Advice(
        (402,),
        ("insufficient_quota",),
        "rejected the request: quota exceeded",
        "Add credit or raise the account's limit, or use another model.",
    ),
    _Advice(
        (404, 405),
        (),
        "has no chat completions API at this address",
        "Check model.base_url: it usually ends in /v1.",
    ),
    _Advice(
        (413,), (), "rejected the request: body too large", "Send smaller attachments or a shorter history."
    ),
    _Advice(
        (429,),
        (),
        "rejected the request: rate limit exceeded",
        "Send fewer requests, or raise the account's limit.",
    ),
    _Advice(
        (301, 302, 303, 307, 308),
        (),
        "redirects to another address",
        "Set model.base_url to that address.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """Maker of the errors of one model at one address."""

    provider: str
    model: str
    address: str
    has_key: bool
    secrets: Sequence[str] = field(repr=False)

    def fail(self, message: str, **details: Any) -> ModelError:
        """Return an error that a retry does not fix."""
        return self._make(ModelError, message, details)

    def fail_transient(self, message: str, **details: Any) -> TransientModelError:
        """Return an error that a retry may fix."""
        return self._make(TransientModelError, message, details)

    def fail_answer(self, failure: str, status: int | None = None) -> ModelError:
        """Return the error for a failed answer; `failure` is what the provider did, as a sentence's end."""
        make = self.fail_transient if status is not None and is_transient(status) else self.fail
        return make(f"{self.provider} at {self.address} {failure}", status=status)

    def fail_status(self, refusal: Refusal, headers: Mapping[str, str]) -> ModelError:
        """Return the error for a rejected request."""
        message, hint = self._explain(refusal)
        details = {"hint": hint, "status": refusal.status, "request_id": find_request_id(headers)}
        if refusal.is_transient:
            return self.fail_transient(message, retry_after=read_retry_after(headers), **details)
        return self.fail(message, **details)

    def fail_page(self, status: int, body: bytes) -> ModelError:
        """Return the error for a web page instead of an answer."""
        start = " ".join(body[:120].decode("utf-8", "replace").split())
        make = self.fail_transient if is_transient(status) else self.fail
        hint = "Check model.base_url: it usually ends in /v1. A proxy or login page may be in between."
        if status >= 500:
            hint = "The server, or a proxy in front of it, is failing: try again later."
        return make(
            f"{self.address} returned a web page (status {status}) instead of an answer: {start!r}",
            hint=hint,
            status=status,
        )

    def fail_content_type(self, content_type: str, body: bytes) -> ModelError:
        """Return the error for a body that is neither JSON nor an event stream."""
        return self.fail(
            f"{self.address} returned {content_type!r} instead of JSON or an event stream; "
            f"it begins with {body[:60]!r}",
            hint="Check model.base_url: it must be the address of an OpenAI-compatible API.",
        )

    def fail_unknown_model(self, names: Sequence[str], status: int) -> ModelError:
        """Return the error for an unknown model; `names` are the server's models."""
        near = did_you_mean(self.model, names, most=5, cutoff=0.4)
        hint = near or (expected_one_of(names) if names else "Check the name in model.name.")
        return self.fail(
            f"{self.provider} at {self.address} has no model {self.model!r}", hint=hint, status=status
        )

    def _explain(self, refusal: Refusal) -> tuple[str, str | None]:
        where = f"{self.provider} at {self.address}"
        said = f"(status {refusal.status})" + (f": {refusal.message}" if refusal.message else "")
        if refusal.status in (401, 403):
            what = "rejected the API key" if self.has_key else "requires an API key, but none is set"
            return (
                f"{where} {what} {said}",
                "Set model.api_key or DOVETAIL_API_KEY to a valid key.",
            )
        for advice in _ADVICE:
            if refusal.status in advice.statuses or any(code in refusal.code for code in advice.codes):
                return f"{where} {advice.meaning} {said}", advice.hint
        return f"{where} {'failed' if refusal.status >= 500 else 'rejected the request'} {said}", None

    def _make(self, kind: type[Any], message: str, details: Mapping[str, Any]) -> Any:
        shown = {
            name: self._hide(value) if isinstance(value, str) else value for name, value in details.items()
        }
        return kind(self._hide(message), provider=self.provider, **shown)

    def _hide(self, text: str) -> str:
        return clean_text(hide(hide_passwords(text), self.secrets))


def explain_connection(error: Exception, failures: Failures) -> ModelError:
    """Return the model error for a failure of the connection."""
    where = f"{failures.provider} at {failures.address}"
    if isinstance(error, aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError):
        return failures.fail_transient(
            f"Cannot connect to {where} through the proxy: {error}", hint="Check model.proxy."
        )
    if isinstance(error, aiohttp.ClientSSLError):
        return failures.fail(
            f"TLS connection to {where} failed: {error}",
            hint="Check the certificate, or whether the address should begin with http rather than https.",
        )
    if isinstance(error, aiohttp.ServerTimeoutError):
        return failures.fail_transient(f"Timed out connecting to {where}", hint=_hint(failures))
    if isinstance(error, aiohttp.ClientConnectorError):
        return failures.fail_transient(f"Cannot connect to {where}: {_describe(error)}", hint=_hint(failures))
    if isinstance(error, aiohttp.InvalidURL):
        return failures.fail(f"Invalid URL {failures.address!r}", hint="Check model.base_url.")
    return failures.fail_transient(f"Lost the connection to {where}{_describe(error, before=': ')}")


def _describe(error: Exception, before: str = "") -> str:
    number, reason = getattr(error, "errno", None), getattr(error, "strerror", None)
    if isinstance(number, int) and number > 0:
        reason = os.strerror(number)
    return f"{before}{reason}" if reason else "" if before else str(error)


def _hint(failures: Failures) -> str:
    if failures.provider == "ollama":
        return "Start it with `ollama serve`, or set model.base_url to its address."
    return "Is the server running, and is model.base_url its address?"


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


def _read_date(value: str) -> float | None:
    try:
        return max(email_dates.parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError, OSError):  # not a date, or out of range
        return None
