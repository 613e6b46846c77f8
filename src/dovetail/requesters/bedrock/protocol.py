"""The Converse API as a chat protocol: signed requests, binary answers."""

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from dovetail.data.secrets import hide_traces
from dovetail.errors import ModelError
from dovetail.events.call import ModelRequest
from dovetail.requesters.bedrock.answer import ConverseReader
from dovetail.requesters.bedrock.body import SIGNED, build_body, find_refused_part
from dovetail.requesters.bedrock.credentials import find_credentials, find_region
from dovetail.requesters.bedrock.family import find_family
from dovetail.requesters.bedrock.messages import ConverseWriter
from dovetail.requesters.bedrock.signature import Credentials, Request, sign
from dovetail.requesters.errors import Failures
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.protocol import ChatProtocol
from dovetail.requesters.http.reader import AnswerReader
from dovetail.requesters.refusal import Refusal, read_retry_after

SERVICE = "bedrock"
_UNKNOWN = ("model identifier is invalid", "resolve the foundation model", "model id is invalid")


class Converse(ChatProtocol):
    """Send requests to `POST <base_url>/model/<id>/converse-stream`.

    With a key (`AWS_BEARER_TOKEN_BEDROCK`) it is sent as it is; otherwise each request is signed.
    """

    models_path = ""
    momentary = frozenset({SIGNED})
    keeps_url = True

    def __init__(self, endpoint: Endpoint) -> None:
        self.region = find_region(endpoint.base_url, endpoint.model, has_key=bool(endpoint.api_key))
        address = endpoint.base_url.replace("{region}", self.region)
        if self.region.startswith("cn-") and address.endswith(f"{self.region}.amazonaws.com"):
            address += ".cn"
        super().__init__(replace(endpoint, base_url=address))
        self._credentials: Credentials | None = None

    @property
    def source(self) -> str:
        """The name of this API in provider parts: only models of the same vendor read them."""
        vendor = find_family(self.endpoint.model).vendor
        return f"{self.endpoint.provider}-{vendor}" if vendor else self.endpoint.provider

    def path(self, request: ModelRequest) -> str:
        """Return the route of a request; the id may be an ARN, whose slashes and colons are encoded."""
        route = "converse-stream" if request.stream else "converse"
        return f"model/{quote(request.model, safe='')}/{route}"

    def check_part(self, part: Mapping[str, Any]) -> None:
        """Check that the API takes a part of a message."""
        ConverseWriter(self.source).check_part(part)

    def build_body(self, request: ModelRequest, without: Set[str]) -> dict[str, Any]:
        """Return the JSON body of a request, without the options that the server rejects."""
        return build_body(request, self.endpoint, self.source, without)

    def make_reader(self, failures: Failures) -> AnswerReader:
        """Return the reader of one answer."""
        return ConverseReader(failures.fail_answer, self.source, self.endpoint.model)

    async def sign(self, headers: Mapping[str, str], url: str, body: bytes) -> Mapping[str, str]:
        """Return the headers of one request, signed unless they carry a key."""
        if "authorization" in headers:
            return headers
        self._credentials = credentials = await find_credentials(self.endpoint.model)
        request = Request(url=url, headers=headers, body=body)
        return sign(request, credentials, region=self.region, service=SERVICE)

    def find_refused_part(self, refusal: Refusal, body: Mapping[str, Any]) -> str | None:
        """Return the optional part of a body that the server rejected, if any."""
        return find_refused_part(refusal, body)

    def explain(self, refusal: Refusal, failures: Failures, headers: Mapping[str, str]) -> ModelError:
        """Return the error for a rejected request, in the words of AWS."""
        if self._credentials is not None:  # a wrong signature is explained with the headers that it covers
            hidden = hide_traces(refusal.message, self._credentials.secrets)
            refusal = replace(refusal, message=hidden)
        said = refusal.message.lower()
        where = failures.where
        details: dict[str, Any] = {
            "status": refusal.status,
            "request_id": headers.get("x-amzn-requestid"),
        }
        if any(words in said for words in _UNKNOWN):
            return failures.fail_unknown_model([], refusal.status)
        if "on-demand throughput" in said:
            return failures.fail(
                f"{where} offers {self.endpoint.model} only through an inference profile: {refusal.message}",
                hint=f"Use the profile of your region, such as bedrock:us.{self.endpoint.model}",
                **details,
            )
        if refusal.status == 424:  # the model itself failed; AWS advises to try again
            message = f"{where} failed while {self.endpoint.model} answered (status 424): {refusal.message}"
            return failures.fail_transient(message, retry_after=read_retry_after(headers), **details)
        if refusal.status in (401, 403):
            return failures.fail(
                f"{where} denied the request for {self.endpoint.model} "
                f"(status {refusal.status}): {refusal.message}",
                hint=_advise(said, self.region),
                **details,
            )
        return super().explain(refusal, failures, headers)


def _advise(said: str, region: str) -> str:
    if "expired" in said:
        return "Renew the credentials: aws sso login, or a new AWS_SESSION_TOKEN or AWS_BEARER_TOKEN_BEDROCK."
    if "access" in said or "authorized" in said:
        return (
            f"Enable the model for the account in {region}, and allow bedrock:InvokeModel and "
            "bedrock:InvokeModelWithResponseStream."
        )
    return (
        "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and the clock of this machine."
    )
