"""The Messages API as a chat protocol."""

from collections.abc import Mapping, Set
from typing import Any

from dovetail.events.call import ModelRequest
from dovetail.requesters.anthropic.answer import MessagesReader
from dovetail.requesters.anthropic.body import SIGNED, build_body, find_refused_part
from dovetail.requesters.anthropic.content import MessagesWriter
from dovetail.requesters.anthropic.thinking import INTERLEAVED
from dovetail.requesters.anthropic.traits import find_traits
from dovetail.requesters.errors import Failures
from dovetail.requesters.http.protocol import ChatProtocol
from dovetail.requesters.http.reader import AnswerReader
from dovetail.requesters.refusal import Refusal

VERSION = "2023-06-01"
"""The version of the API; a newer one can be set in `model.headers` as `anthropic-version`."""

_BINDING = "thinking-binding-controls-2026-08-01"


class Messages(ChatProtocol):
    """Send requests to `POST <base_url>/messages`."""

    api = "anthropic"
    models_path = "models?limit=1000"
    momentary = frozenset({SIGNED})

    def path(self, request: ModelRequest) -> str:
        """Return the route of a request."""
        return "messages"

    def build_headers(self) -> dict[str, str]:
        """Return the headers of every request, with the key."""
        headers = {"anthropic-version": VERSION}
        if self.endpoint.api_key:
            headers["x-api-key"] = self.endpoint.api_key
        return headers

    async def sign(self, headers: Mapping[str, str], url: str, body: bytes) -> Mapping[str, str]:
        """Return the headers of one request, with the names of beta features that its body uses."""
        betas = [headers["anthropic-beta"]] if "anthropic-beta" in headers else []
        given = len(betas)
        if b'"budget_tokens"' in body and find_traits(self.endpoint.model).interleaves:
            betas.append(INTERLEAVED)
        if b'"block_binding"' in body:
            betas.append(_BINDING)
        return {**headers, "anthropic-beta": ",".join(betas)} if len(betas) > given else headers

    def check_part(self, part: Mapping[str, Any]) -> None:
        """Check that the API takes a part of a message."""
        MessagesWriter(self.source).check_part(part)

    def build_body(self, request: ModelRequest, without: Set[str]) -> dict[str, Any]:
        """Return the JSON body of a request, without the options that the server rejects."""
        return build_body(request, self.endpoint, self.source, without)

    def make_reader(self, failures: Failures) -> AnswerReader:
        """Return the reader of one answer."""
        return MessagesReader(failures.fail_answer, self.source)

    def find_refused_part(self, refusal: Refusal, body: Mapping[str, Any]) -> str | None:
        """Return the optional part of a body that the server rejected, if any."""
        return find_refused_part(refusal, body)
