"""The Responses API, as OpenAI, Azure and xAI have it: stateless, with encrypted reasoning."""

from collections.abc import Mapping, Set
from typing import Any

from dovetail.errors import ModelError
from dovetail.events.call import ModelRequest
from dovetail.requesters.errors import Failures
from dovetail.requesters.http.protocol import ChatProtocol
from dovetail.requesters.openai.options import THINKING, find_refused_option
from dovetail.requesters.openai.responses_answer import ResponsesReader
from dovetail.requesters.openai.responses_body import build_body
from dovetail.requesters.openai.responses_input import build_input_part
from dovetail.requesters.refusal import Refusal

_UNREADABLE = (
    "Items are not persisted",
    "invalid_encrypted_content",
    "could not be verified",
    "could not be decrypted",
    "without its required",
)
"""Words by which a server rejects items of an earlier answer, for instance after a change of the key."""

_WITHOUT_REASONING = "Reasoning input items can only be provided"
"""Words by which a model that does not think rejects the reasoning of another one."""


class Responses(ChatProtocol):
    """`POST <base_url>/responses`."""

    api = "responses"
    momentary = frozenset({"own_items"})
    thinking_parts = frozenset(THINKING)

    def path(self, request: ModelRequest) -> str:
        """Return the route of responses."""
        return "responses"

    def check_part(self, part: Mapping[str, Any]) -> None:
        """Check that the API takes a part of a message."""
        build_input_part(part)

    def build_body(self, request: ModelRequest, without: Set[str]) -> dict[str, Any]:
        """Return the JSON body of a request."""
        source = "" if without & {"own_items", "reasoning_items"} else self.source
        return build_body(request, self.endpoint, without, source)

    def make_reader(self, failures: Failures) -> ResponsesReader:
        """Return the reader of one answer."""
        return ResponsesReader(failures.fail_answer, self.source)

    def find_refused_part(self, refusal: Refusal, body: Mapping[str, Any]) -> str | None:
        """Return the optional part of a body that the server rejected, or `responses` if it lacks the API."""
        if refusal.mentions(_UNREADABLE) or "invalid_encrypted_content" in refusal.code:
            return "own_items"
        if refusal.mentions((_WITHOUT_REASONING,)):
            return "reasoning_items"
        if self.endpoint.api is None and _lacks_route(refusal):
            return "responses"
        return find_refused_option(refusal, body)

    def explain(self, refusal: Refusal, failures: Failures, headers: Mapping[str, str]) -> ModelError:
        """Return the error for a rejected request."""
        where = failures.where
        if refusal.status == 404 and not _lacks_route(refusal):
            message = f"{where} rejected the request (status 404): {refusal.message}"
            return failures.fail(message, status=refusal.status)
        if not _lacks_route(refusal):
            return failures.fail_status(refusal, headers)
        return failures.fail(
            f"{where} has no Responses API (status {refusal.status}).",
            hint=failures.fill("Set model.api to 'chat', or check {address}: it usually {usual}."),
            status=refusal.status,
        )


def _lacks_route(refusal: Refusal) -> bool:
    """Return whether the server does not know the API; it may also not find a model or a stored item."""
    is_missing = refusal.status in (404, 405, 501)
    return is_missing and not refusal.names_model and not refusal.mentions(("with id",))
