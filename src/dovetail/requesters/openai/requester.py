"""The chat completions of OpenAI-compatible servers, as OpenAI, ollama, vLLM and DeepSeek have them."""

from collections.abc import Mapping, Set
from typing import Any

from dovetail.events.call import ModelRequest
from dovetail.requesters.errors import Failures
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.protocol import ChatProtocol
from dovetail.requesters.http.requester import HttpRequester
from dovetail.requesters.openai.answer import ChatReader
from dovetail.requesters.openai.body import build_body, find_refused_part
from dovetail.requesters.refusal import Refusal


class ChatCompletions(ChatProtocol):
    """`POST <base_url>/chat/completions`."""

    def path(self, request: ModelRequest) -> str:
        """Return the route of chats."""
        return "chat/completions"

    def build_body(self, request: ModelRequest, without: Set[str]) -> dict[str, Any]:
        """Return the JSON body of a request."""
        return build_body(request, extra=self.endpoint.body, without=without)

    def make_reader(self, failures: Failures) -> ChatReader:
        """Return the reader of one answer."""
        return ChatReader(failures.fail_answer)

    def find_refused_part(self, refusal: Refusal, body: Mapping[str, Any]) -> str | None:
        """Return the optional part of a body that the server rejected, if any."""
        return find_refused_part(refusal, body)


class OpenAIRequester(HttpRequester):
    """The requester for chat completions."""

    def __init__(self, endpoint: Endpoint, *, refused: set[str] | None = None) -> None:
        super().__init__(ChatCompletions(endpoint), refused=refused)
