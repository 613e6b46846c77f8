"""The contract of a chat protocol: how requests are written and answers are read."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any, ClassVar

from dovetail.data.shapes import is_list, is_mapping
from dovetail.errors import ConfigError, ModelError
from dovetail.events.call import ModelRequest
from dovetail.requesters.content import settle_attachments
from dovetail.requesters.errors import Failures
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.reader import AnswerReader
from dovetail.requesters.providers import PROVIDERS
from dovetail.requesters.refusal import Refusal
from dovetail.settings.model import Api


class ChatProtocol(ABC):
    """One API for chats, spoken with one endpoint; `HttpRequester` does the rest.

    Options that a server has rejected are left out from then on: `build_body` gets their names, and
    `find_refused_part` finds them. `response_format` stands for the schema of an answer and `tools` for tools
    in every protocol.
    """

    api: ClassVar[Api] = "chat"
    """Its name in `model.api`."""

    models_path: ClassVar[str] = "models"
    """The route that lists the server's models; empty if none does."""

    momentary: ClassVar[Set[str]] = frozenset[str]()
    """Parts that are left out of one request only, because the next one may have others."""

    thinking_parts: ClassVar[Set[str]] = frozenset({"thinking"})
    """Parts that say how long the model thinks."""

    keeps_url: ClassVar[bool] = False
    """Whether URLs are sent exactly as written, because a signature covers them."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    @property
    def source(self) -> str:
        """The name of this API in provider parts: they go back to the source that they came from.

        It is the provider's name, or `deepseek-anthropic` for an API that the provider also has.
        """
        provider = self.endpoint.provider
        usual = PROVIDERS[provider].api if provider in PROVIDERS else "chat"
        return provider if self.api == usual else f"{provider}-{self.api}"

    def choose(self, refused: Set[str]) -> "ChatProtocol":
        """Return the protocol for the next request: another one if the server prefers or lacks this one."""
        return self

    def check_part(self, part: Mapping[str, Any]) -> None:
        """Check that the API takes a part of a message that is not text.

        Raises:
            ConfigError: it is known not to take it.
        """
        return

    def settle(self, request: ModelRequest) -> ModelRequest:
        """Return the request without the earlier attachments that the API does not take.

        Raises:
            ConfigError: the newest message has one.
        """
        try:
            messages = settle_attachments(request.messages, self.check_part)
        except ConfigError as error:
            name = f"{self.endpoint.provider}:{request.model}"
            message = f"{name} cannot read an attachment: {error.message}"
            raise ConfigError(message, hint=error.hint) from error
        return replace(request, messages=messages)

    @abstractmethod
    def path(self, request: ModelRequest) -> str:
        """Return the route of a request, relative to the base URL; it may have a query."""

    @abstractmethod
    def build_body(self, request: ModelRequest, without: Set[str]) -> dict[str, Any]:
        """Return the JSON body of a request, without the options that the server rejects."""

    @abstractmethod
    def make_reader(self, failures: Failures) -> AnswerReader:
        """Return the reader of one answer."""

    def build_headers(self) -> dict[str, str]:
        """Return the headers of every request, with the key."""
        key, header = self.endpoint.api_key, self.endpoint.key_header
        if not key:
            return {}
        return {header: f"Bearer {key}" if header == "authorization" else key}

    async def sign(self, headers: Mapping[str, str], url: str, body: bytes) -> Mapping[str, str]:
        """Return the headers of one request, signed if the API demands that."""
        return headers

    def find_refused_part(self, refusal: Refusal, body: Mapping[str, Any]) -> str | None:
        """Return the optional part of a body that the server rejected, if any."""
        return None

    def explain(self, refusal: Refusal, failures: Failures, headers: Mapping[str, str]) -> ModelError:
        """Return the error for a rejected request."""
        return failures.fail_status(refusal, headers)

    def read_models(self, data: Any) -> list[str]:
        """Return the names in the server's list of models."""
        entries = data.get("data") if is_mapping(data) else None
        listed = entries if is_list(entries) else ()
        return [str(entry["id"]) for entry in listed if is_mapping(entry) and "id" in entry]
