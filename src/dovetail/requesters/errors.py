"""Turn the failures of a model API into errors that say what happened and what helps, without any key.

A server refuses with a status and a body (`refusal.py`), or the connection fails (`explain_connection`).
`Failures` makes the errors of one endpoint.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dovetail.data.clean import clean_text
from dovetail.data.secrets import hide_passwords, hide_traces
from dovetail.data.text import did_you_mean, expected_one_of
from dovetail.errors import ContextLengthError, ModelError, TransientModelError
from dovetail.lazy import lazy
from dovetail.requesters.providers import describe_address, find_provider
from dovetail.requesters.refusal import Refusal, find_request_id, is_transient, read_retry_after
from dovetail.settings.model import Api

aiohttp = lazy("aiohttp")
REPORTED = "reported an error while answering"
"""What a provider did whose answer ends with an error of its own."""
REFUSED = "refused to answer"
"""What a provider did whose filter, or whose model, stopped the answer before its first word."""
REFUSED_HINT = "Rephrase the request, or use another model."
LATER_HINT = "Try again later, or set model.fallbacks."
_SAFETY_HINT = "Rephrase the request, set safetySettings in model.body, or use another model."
_APIS: Mapping[Api, str] = {
    "chat": "an OpenAI-compatible API",
    "responses": "an OpenAI-compatible API",
    "anthropic": "Anthropic's Messages API",
    "google": "the Gemini API",
    "bedrock": "the runtime of Amazon Bedrock",
}


@dataclass(frozen=True, slots=True)
class _Advice:
    """The meaning of a status or an error code, and what helps; see `Failures.fill`."""

    statuses: tuple[int, ...]
    codes: tuple[str, ...]
    meaning: str
    hint: str


_ADVICE = [
    _Advice(
        (),
        ("string_above_max",),
        "rejected the request: a text is too long",
        "Shorten the chat history or the attachments, or use a model with a longer context.",
    ),
    _Advice((529,), ("overloaded", "UNAVAILABLE"), "is overloaded", LATER_HINT),
    _Advice((), ("content_policy", "content_filter"), "rejected the content of the request", REFUSED_HINT),
    _Advice((404, 405), (), "has no chat API at this address", "Check {address}: it usually {usual}."),
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
        "Set {address} to that address.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """Maker of the errors of one model at one address, in one API; by default that of the provider."""

    provider: str
    model: str
    address: str
    api: Api | None = None
    has_key: bool
    secrets: Sequence[str] = field(repr=False)

    @property
    def where(self) -> str:
        """The model and its server, as the beginning of a sentence."""
        return f"{self.provider}:{self.model} at {self.address}"

    def fill(self, hint: str) -> str:
        """Return a hint with the names of the settings for the `{address}`, and how it `{usual}`ly looks."""
        row = find_provider(self.provider)
        variable = row.address_variable if row else ""
        is_read = bool(variable and os.environ.get(variable))
        needs_own = row is not None and row.keys and not row.base_url  # its key is not sent to model.base_url
        setting = f"model.providers.{self.provider}.base_url" if needs_own else "model.base_url"
        address = f"{setting} or {variable}" if is_read else setting
        return hint.format(address=address, usual=describe_address(self.provider, self.api))

    def fail(self, message: str, **details: Any) -> ModelError:
        """Return an error that a retry does not fix."""
        return self._make(ModelError, message, details)

    def fail_transient(self, message: str, **details: Any) -> TransientModelError:
        """Return an error that a retry may fix."""
        return self._make(TransientModelError, message, details)

    def fail_answer(self, failure: str, status: int | None = None) -> ModelError:
        """Return the error for a failed answer; `failure` is what the provider did, as a sentence's end."""
        message = f"{self.where} {failure}"
        reported = Refusal(status or 400, failure, failure)
        if failure.startswith(REPORTED) and reported.exceeds_context:
            return self._make(
                ContextLengthError, message, {"status": status, "limit": reported.context_limit}
            )
        if failure.startswith(REFUSED):
            hint = _SAFETY_HINT if self._find_api() == "google" else REFUSED_HINT
            return self.fail(message, status=status, hint=hint)
        make = self.fail_transient if status is not None and is_transient(status) else self.fail
        later = LATER_HINT if status is not None and status >= 500 else None
        hint = next((self.fill(advice.hint) for advice in _ADVICE if status in advice.statuses), later)
        return make(message, status=status, hint=hint)

    def fail_status(self, refusal: Refusal, headers: Mapping[str, str]) -> ModelError:
        """Return the error for a rejected request."""
        message, hint = self._explain(refusal)
        details: dict[str, Any] = {"hint": hint, "status": refusal.status}
        details["request_id"] = find_request_id(headers)
        if refusal.refuses_key and not refusal.exceeds_context:
            details["remedy"] = "keys"
        if refusal.exceeds_context:
            return self._make(ContextLengthError, message, {**details, "limit": refusal.context_limit})
        if refusal.is_transient:
            wait = read_retry_after(headers)
            wait = refusal.retry_after if wait is None else wait
            return self.fail_transient(message, retry_after=wait, **details)
        return self.fail(message, **details)

    def fail_page(self, status: int, body: bytes) -> ModelError:
        """Return the error for a web page instead of an answer."""
        start = " ".join(body[:120].decode("utf-8", "replace").split())
        make = self.fail_transient if is_transient(status) else self.fail
        hint = self.fill("Check {address}: it usually {usual}. A proxy or login page may be in between.")
        if status >= 500:
            hint = "The server, or a proxy in front of it, is failing: try again later."
        return make(
            f"{self.where} returned a web page (status {status}) instead of an answer: {start!r}",
            hint=hint,
            status=status,
        )

    def fail_content_type(self, content_type: str, body: bytes) -> ModelError:
        """Return the error for a body that is neither JSON nor an event stream."""
        return self.fail(
            f"{self.where} returned {content_type!r} instead of JSON or an event stream; "
            f"it begins with {body[:60]!r}",
            hint=self.fill("Check {address}: it must be the address of " + self._name_api() + "."),
        )

    def fail_unknown_model(self, names: Sequence[str], status: int) -> ModelError:
        """Return the error for an unknown model; `names` are the server's models."""
        near = did_you_mean(self.model, names, most=5, cutoff=0.4)
        hint = near or (expected_one_of(names) if names else "Check the name in model.name.")
        return self.fail(
            f"{self.provider} at {self.address} has no model {self.model!r}",
            hint=hint,
            status=status,
            remedy="models",
        )

    def _explain(self, refusal: Refusal) -> tuple[str, str | None]:
        where = self.where
        said = f"(status {refusal.status})" + (f": {refusal.message}" if refusal.message else "")
        if refusal.exceeds_context:
            return (
                f"{where} rejected the request: context length exceeded {said}",
                "Shorten the chat history or the attachments, or use a model with a longer context.",
            )
        if refusal.refuses_key:
            what = "rejected the API key" if self.has_key else "requires an API key, but none is set"
            return (
                f"{where} {what} {said}",
                f"Set {self._name_keys()} to a valid key.",
            )
        if refusal.exceeds_quota:
            return (
                f"{where} rejected the request: quota exceeded {said}",
                "Add credit or raise the account's limit, or use another model.",
            )
        for advice in _ADVICE:
            if refusal.status in advice.statuses or any(code in refusal.code for code in advice.codes):
                return f"{where} {advice.meaning} {said}", self.fill(advice.hint)
        if refusal.status >= 500:
            return f"{where} failed {said}", LATER_HINT
        return f"{where} rejected the request {said}", None

    def _name_api(self) -> str:
        return _APIS[self._find_api()]

    def _find_api(self) -> Api:
        row = find_provider(self.provider)
        return self.api or (row.api if row else "chat")

    def _name_keys(self) -> str:
        """Return the settings and variables that may hold the key."""
        row = find_provider(self.provider)
        variables = [*(row.keys[:1] if row else ()), "DOVETAIL_API_KEY"]
        return f"{', '.join(variables)} or model.providers.{self.provider}.api_key"

    def _make(self, kind: type[Any], message: str, details: Mapping[str, Any]) -> Any:
        shown = {
            name: self._hide(value) if isinstance(value, str) else value for name, value in details.items()
        }
        return kind(self._hide(message), provider=self.provider, **shown)

    def _hide(self, text: str) -> str:
        return clean_text(hide_traces(hide_passwords(text), self.secrets))


def explain_connection(error: Exception, failures: Failures) -> ModelError:
    """Return the model error for a failure of the connection."""
    where = failures.where
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
        return failures.fail_transient(
            f"Cannot connect to {where}: {describe_connection(error)}", hint=_hint(failures)
        )
    if isinstance(error, aiohttp.InvalidURL):
        return failures.fail(f"Invalid URL {failures.address!r}", hint=failures.fill("Check {address}."))
    reason = describe_connection(error, before=": ")
    return failures.fail_transient(f"Lost the connection to {where}{reason}", hint=LATER_HINT)


def describe_connection(error: Exception, before: str = "") -> str:
    """Return why a connection failed, in the system's words; nothing rather than the client's, if `before`
    is to precede it."""
    number, reason = getattr(error, "errno", None), getattr(error, "strerror", None)
    if isinstance(number, int) and number > 0:
        reason = os.strerror(number)
    return f"{before}{reason}" if reason else "" if before else str(error)


def _hint(failures: Failures) -> str:
    if failures.provider == "ollama":
        return failures.fill("Start it with `ollama serve`, or set {address} to its address.")
    row = find_provider(failures.provider)
    if row is not None and "{region}" in row.base_url:
        return failures.fill("Check the region (AWS_REGION) or {address}, and the network of this machine.")
    if row is not None and not row.is_local and failures.address == row.base_url:
        return "Check the network of this machine, and whether it needs a proxy (model.proxy)."
    return failures.fill("Is the server running, and is {address} its address?")
