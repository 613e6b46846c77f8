"""The protocol of the Gemini API: `models/<name>:streamGenerateContent`, also at Vertex AI."""

from collections.abc import Mapping, Set
from typing import Any

from dovetail.data.shapes import is_list, is_mapping
from dovetail.events.call import ModelRequest
from dovetail.requesters.errors import Failures
from dovetail.requesters.google.answer import GoogleReader
from dovetail.requesters.google.body import always_thinks, build_body
from dovetail.requesters.google.contents import SIGNING, SOURCE, read_version, write_part
from dovetail.requesters.http.protocol import ChatProtocol
from dovetail.requesters.options import translate_options
from dovetail.requesters.refusal import Refusal
from dovetail.requesters.thinking import warn_always, warn_never

_KNOWN = {"frequency_penalty", "logprobs", "n", "presence_penalty", "seed", "service_tier", "top_logprobs"}
_PENALTIES = {"presence_penalty": "presencePenalty", "frequency_penalty": "frequencyPenalty"}
_SCHEMA_WORDS = ("response mime type", "response_mime_type", "response_json_schema", "responseJsonSchema")
_SIGNATURE_WORDS = ("hought signature", "thought_signature", "thoughtSignature")
_THINKING_WORDS = ("thinking", "Thinking")


class GenerateContent(ChatProtocol):
    """`POST <base_url>/models/<name>:streamGenerateContent`, or `:generateContent` without streaming.

    The key is a header. At Vertex AI there is none: `model.headers` has the `authorization`.
    """

    api = "google"
    models_path = "models?pageSize=1000"
    momentary = frozenset({"signatures"})

    @property
    def source(self) -> str:
        """The name of this API in provider parts, the same at all addresses."""
        return SOURCE

    def path(self, request: ModelRequest) -> str:
        """Return the route of a model's answers."""
        name = request.model if "/" in request.model else f"models/{request.model}"
        return f"{name}:streamGenerateContent?alt=sse" if request.stream else f"{name}:generateContent"

    def build_headers(self) -> dict[str, str]:
        """Return the header of the key, unless the user has an authorization of another kind."""
        key, names = self.endpoint.api_key, map(str.lower, self.endpoint.headers)
        return {"x-goog-api-key": key} if key and "authorization" not in names else {}

    def check_part(self, part: Mapping[str, Any]) -> None:
        """Check that Gemini takes a part of a message."""
        write_part(part)

    def build_body(self, request: ModelRequest, without: Set[str]) -> dict[str, Any]:
        """Return the JSON body of a request."""
        chosen = translate_options(request, known=_KNOWN)
        if chosen.thinking is not None:
            self._check_thinking(chosen.thinking, request.model)
        if request.tools and not self._joins_schema_and_tools(request.model):
            without = {*without, "response_format"}
        return build_body(chosen, extra=self.endpoint.body, without=without)

    def make_reader(self, failures: Failures) -> GoogleReader:
        """Return the reader of one answer."""
        return GoogleReader(failures)

    def find_refused_part(self, refusal: Refusal, body: Mapping[str, Any]) -> str | None:
        """Return the optional part of a body that the server rejected, if any."""
        config: Mapping[str, Any] = body.get("generationConfig") or {}
        if refusal.status != 400:
            return None
        if "responseJsonSchema" in config and refusal.mentions(_SCHEMA_WORDS):
            return "response_format"
        if "thinkingConfig" in config and refusal.mentions(_THINKING_WORDS):
            return "thinking"
        penalties = [name for name, own in _PENALTIES.items() if own in config]
        if penalties and refusal.mentions(("enalty", "enalties")) and refusal.is_unsupported:
            return penalties[0]
        return "signatures" if refusal.mentions(_SIGNATURE_WORDS) else None

    def read_models(self, data: Any) -> list[str]:
        """Return the names in the server's list of models."""
        entries = data.get("models") if is_mapping(data) else None
        listed = entries if is_list(entries) else ()
        names = [str(entry["name"]) for entry in listed if is_mapping(entry) and "name" in entry]
        return [name.removeprefix("models/") for name in names]

    def _check_thinking(self, thinking: str | int, model: str) -> None:
        if read_version(model) < (2, 5):
            if thinking != "off":
                warn_never(model)
        elif thinking == "off" and always_thinks(model):
            warn_always(model)

    def _joins_schema_and_tools(self, model: str) -> bool:
        """Whether a model follows a schema in a request with tools; Gemini 2 rejects both together."""
        return self.endpoint.structured == "schema" or read_version(model)[0] >= SIGNING
