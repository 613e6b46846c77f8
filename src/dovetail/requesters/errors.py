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
from dovetail.data.numbers import read_number
from dovetail.data.secrets import hide, hide_passwords
from dovetail.data.shapes import is_mapping
from dovetail.data.text import did_you_mean, expected_one_of
from dovetail.errors import ModelError, TransientModelError
from dovetail.lazy import lazy

aiohttp = lazy("aiohttp")
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
    def is_transient(self) -> bool:
        """Whether the same request may succeed a little later."""
        return is_transient(self.status) and "insufficient_quota" not in self.code

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


def is_transient(status: int) -> bool:
    """Whether a status stands for a failure that may pass."""
    return status in (408, 409, 425, 429) or (status >= 500 and status != 501)


@dataclass(frozen=True, slots=True)
class _Advice:
    """What a status or an error code means, and what would help."""

    statuses: tuple[int, ...]
    codes: tuple[str, ...]
    meaning: str
    hint: str


_ADVICE = [
    _Advice(
        (),
        ("context_length", "string_above_max"),
        "finds the request too long for the model",
        "Shorten the chat history or the attachments, or take a model with a longer context.",
    ),
    _Advice(
        (402,),
        ("insufficient_quota",),
        "has no quota left for this account",
        "Add credit or raise the account's limit, or use another model.",
    ),
    _Advice(
        (404, 405),
        (),
        "has no chat model at this address",
        "Check model.base_url: it usually ends in /v1.",
    ),
    _Advice((413,), (), "finds the request too large", "Send smaller attachments or a shorter chat history."),
    _Advice((429,), (), "gets too many requests", "Send fewer at once, or raise the account's limit."),
    _Advice(
        (301, 302, 303, 307, 308),
        (),
        "has moved to another address",
        "Set model.base_url to the address that answers.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """Makes the errors of one model at one address."""

    provider: str
    model: str
    address: str
    has_key: bool
    secrets: Sequence[str] = field(repr=False)

    def fail(self, message: str, **details: Any) -> ModelError:
        """An error that stays when the request is made again."""
        return self._make(ModelError, message, details)

    def fail_transient(self, message: str, **details: Any) -> TransientModelError:
        """An error that may pass."""
        return self._make(TransientModelError, message, details)

    def fail_broken(self, message: str, status: int | None = None) -> ModelError:
        """The server sent something that is no answer."""
        make = self.fail_transient if status is not None and is_transient(status) else self.fail
        return make(f"{self.provider} at {self.address} failed while it answered: {message}", status=status)

    def fail_status(self, refusal: Refusal, headers: Mapping[str, str]) -> ModelError:
        """The server refused the request."""
        message, hint = self._explain(refusal)
        details = {"hint": hint, "status": refusal.status, "request_id": find_request_id(headers)}
        if refusal.is_transient:
            return self.fail_transient(message, retry_after=read_retry_after(headers), **details)
        return self.fail(message, **details)

    def fail_page(self, status: int, body: bytes) -> ModelError:
        """A web page came where an answer was expected."""
        start = " ".join(body[:120].decode("utf-8", "replace").split())
        make = self.fail_transient if is_transient(status) else self.fail
        hint = "Check model.base_url: it usually ends in /v1. A proxy or log-in page may stand in between."
        if status >= 500:
            hint = "The server, or a proxy before it, has a problem of its own: try again a little later."
        return make(
            f"{self.address} answered with a web page (status {status}), not with a model's words: {start!r}",
            hint=hint,
            status=status,
        )

    def fail_content_type(self, content_type: str, body: bytes) -> ModelError:
        """Something came that is neither JSON nor an event stream."""
        return self.fail(
            f"{self.address} answered with {content_type!r} where JSON or an event stream was expected; "
            f"it begins with {body[:60]!r}",
            hint="Check model.base_url: it must lead to an OpenAI-compatible API.",
        )

    def fail_unknown_model(self, names: Sequence[str], status: int) -> ModelError:
        """The server has no such model; `names` are those it has."""
        near = did_you_mean(self.model, names, most=5, cutoff=0.4)
        hint = near or (expected_one_of(names) if names else "Check the name in model.name.")
        return self.fail(
            f"{self.provider} at {self.address} has no model {self.model!r}", hint=hint, status=status
        )

    def _explain(self, refusal: Refusal) -> tuple[str, str | None]:
        where = f"{self.provider} at {self.address}"
        said = f"(status {refusal.status})" + (f": {refusal.message}" if refusal.message else "")
        if refusal.status in (401, 403):
            what = "refuses the API key" if self.has_key else "wants an API key, and none is set"
            return (
                f"{where} {what} {said}",
                "Set model.api_key or DOVETAIL_API_KEY to a key that is valid there.",
            )
        for advice in _ADVICE:
            if refusal.status in advice.statuses or any(code in refusal.code for code in advice.codes):
                return f"{where} {advice.meaning} {said}", advice.hint
        return f"{where} {'failed' if refusal.status >= 500 else 'refuses the request'} {said}", None

    def _make(self, kind: type[Any], message: str, details: Mapping[str, Any]) -> Any:
        shown = {
            name: self._hide(value) if isinstance(value, str) else value for name, value in details.items()
        }
        return kind(self._hide(message), provider=self.provider, **shown)

    def _hide(self, text: str) -> str:
        return clean_text(hide(hide_passwords(text), self.secrets))


def explain_connection(error: Exception, failures: Failures) -> ModelError:
    """The model error for a failure of the network."""
    where = f"{failures.provider} at {failures.address}"
    if isinstance(error, aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError):
        return failures.fail_transient(
            f"the proxy to {where} does not work: {error}", hint="Check model.proxy."
        )
    if isinstance(error, aiohttp.ClientSSLError):
        return failures.fail(
            f"no secure connection to {where}: {error}",
            hint="Check the certificate, or whether the address begins with http rather than https.",
        )
    if isinstance(error, aiohttp.ServerTimeoutError):
        return failures.fail_transient(f"{where} does not let us connect in time", hint=_hint(failures))
    if isinstance(error, aiohttp.ClientConnectorError):
        return failures.fail_transient(f"{where} cannot be reached: {_describe(error)}", hint=_hint(failures))
    if isinstance(error, aiohttp.InvalidURL):
        return failures.fail(f"{failures.address!r} is no address", hint="Check model.base_url.")
    return failures.fail_transient(f"the connection to {where} was lost{_describe(error, before=': ')}")


def _describe(error: Exception, before: str = "") -> str:
    number, reason = getattr(error, "errno", None), getattr(error, "strerror", None)
    if isinstance(number, int) and number > 0:
        reason = os.strerror(number)
    return f"{before}{reason}" if reason else "" if before else str(error)


def _hint(failures: Failures) -> str:
    if failures.provider == "ollama":
        return "Start it with `ollama serve`, or set model.base_url to where it runs."
    return "Is the server running, and is model.base_url its address?"


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
