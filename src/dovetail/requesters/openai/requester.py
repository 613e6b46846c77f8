"""The chat completions of OpenAI-compatible servers, as OpenAI, ollama, vLLM and DeepSeek have them.

OpenAI, Azure and xAI also have the Responses API. Unless `model.api` says otherwise, models that think are
asked there: chat completions refuse their tools or drop their reasoning. A server without it is remembered.
"""

from collections.abc import Mapping, Set
from typing import Any, cast

from dovetail.errors import ConfigError
from dovetail.events.call import ModelRequest
from dovetail.lazy import lazy
from dovetail.requesters.errors import Failures
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.protocol import ChatProtocol
from dovetail.requesters.http.requester import HttpRequester
from dovetail.requesters.media import read_media
from dovetail.requesters.openai.answer import ChatReader, TaggedChatReader
from dovetail.requesters.openai.body import build_body
from dovetail.requesters.openai.dialects import find_dialect
from dovetail.requesters.openai.messages import build_chat_messages, refuses_pictures, refuses_reasoning
from dovetail.requesters.openai.options import THINKING, find_refused_option
from dovetail.requesters.openai.thinking import is_reasoning_model, write_thinking
from dovetail.requesters.refusal import Refusal

responses = lazy("dovetail.requesters.openai.responses")


class ChatCompletions(ChatProtocol):
    """`POST <base_url>/chat/completions`."""

    thinking_parts = frozenset(THINKING)

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._dialect = find_dialect(endpoint.provider, endpoint.base_url)
        has_responses = self._dialect.has_responses and "/deployments/" not in endpoint.base_url
        self._needs_responses = has_responses and is_reasoning_model(endpoint.find_model(endpoint.model))
        self._responses: ChatProtocol | None = None

    def choose(self, refused: Set[str]) -> ChatProtocol:
        """Return the Responses API for models that need it, unless the server lacks it or `api` is set."""
        api = self.endpoint.api
        is_better = "responses" not in refused and (self._needs_responses or "chat" in refused)
        if api == "responses" or (api is None and is_better):
            self._responses = self._responses or cast(ChatProtocol, responses.Responses(self.endpoint))
            return self._responses
        return self

    def path(self, request: ModelRequest) -> str:
        """Return the route of chats."""
        return "chat/completions"

    def check_part(self, part: Mapping[str, Any]) -> None:
        """Check that the server takes a part of a message."""
        media = read_media(part)
        if media is None:
            return
        if media.kind == "video":
            raise ConfigError(
                "Chat completions do not take video.",
                hint="Send images or a transcript, or use a model that accepts it.",
            )
        is_fetched = bool(media.url) and not media.url.startswith("data:")
        if is_fetched and media.kind != "image" and not self._dialect.fetches_files:
            raise ConfigError(
                "Chat completions do not fetch files by URL.",
                hint="Inline the attachment: pass its bytes in `data`.",
            )

    def build_body(self, request: ModelRequest, without: Set[str]) -> dict[str, Any]:
        """Return the JSON body of a request."""
        endpoint = self.endpoint
        source = "" if "own_parts" in without else self.source
        thinking = {}
        if request.thinking is not None:
            model = endpoint.find_model(request.model)
            thinking = write_thinking(self._dialect.thinking, request.thinking, model)
        return build_body(
            request,
            extra=endpoint.body,
            without=without | {"max_tokens"} if self._needs_responses else without,
            messages=build_chat_messages(
                request.messages, source, self._dialect, shows_pictures="tool_pictures" not in without
            ),
            thinking=thinking,
        )

    def make_reader(self, failures: Failures) -> ChatReader:
        """Return the reader of one answer."""
        source = "" if self._dialect.returns == "never" else self.source
        make = TaggedChatReader if self.endpoint.think_tags else ChatReader
        return make(failures.fail_answer, source)

    def find_refused_part(self, refusal: Refusal, body: Mapping[str, Any]) -> str | None:
        """Return the optional part of a body that the server rejected, if any."""
        if self.endpoint.api is None and refusal.mentions(("v1/responses",)):
            return "chat"
        if refuses_reasoning(refusal, body):
            return "own_parts"
        if refuses_pictures(refusal, body):
            return "tool_pictures"
        return find_refused_option(refusal, body)


class OpenAIRequester(HttpRequester):
    """The requester for chat completions.

    >>> OpenAIRequester(Endpoint(provider="mine", model="m-1", base_url="http://127.0.0.1:9/v1"))
    OpenAIRequester('mine:m-1', 'http://127.0.0.1:9/v1')
    """

    def __init__(self, endpoint: Endpoint, *, refused: set[str] | None = None) -> None:
        super().__init__(ChatCompletions(endpoint), refused=refused)
