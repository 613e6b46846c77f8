"""Ask servers whether they answer and which models they have, for lists of models and diagnoses."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dovetail.data.secrets import show_address
from dovetail.errors import ModelError
from dovetail.requesters.http import requester as http
from dovetail.requesters.http.requester import HttpRequester
from dovetail.requesters.providers import describe_address

ServerState: TypeAlias = Literal["answers", "unlisted", "key", "page", "failing", "unreachable"]
"""`unlisted`: it answers, but does not list its models. `key`: it rejects the API key."""

_HINTS: dict[ServerState, str] = {
    "key": "Set {key} to a key that this server accepts.",
    "page": "Check {address}: it usually {usual}. It may be the page of a proxy or a login.",
    "failing": "Try again later.",
    "unreachable": "Check the address ({address}), the network and whether the server runs.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReport:
    """A server's answer to the request for its models; `text` is what happened, `address` where.

    `usual` is what such an address looks like: `ends in /v1`.
    """

    state: ServerState
    address: str
    text: str
    models: Sequence[str] = ()
    usual: str = ""

    @property
    def is_reachable(self) -> bool:
        """Whether requests can be sent to it."""
        return self.state in ("answers", "unlisted")

    def explain(self, key: str = "DOVETAIL_API_KEY", address: str = "DOVETAIL_BASE_URL") -> str:
        """Return what to do, with the names of the settings for the key and the address."""
        return _HINTS.get(self.state, "").format(key=key, address=address, usual=self.usual)


async def probe(requester: HttpRequester, limit: float | None = None) -> ServerReport:
    """Ask a server for its models, within a limit of seconds (3); the requester stays open."""
    limit = http.MODELS_LIMIT if limit is None else limit
    path = requester.protocol.models_path
    address = show_address(requester.endpoint.join(path))
    if not path:
        return ServerReport(state="unlisted", address=address, text="does not list its models")
    try:
        async with asyncio.timeout(limit):
            status, body = await requester.ask(path, limit=2 * limit)
    except TimeoutError:
        return ServerReport(state="unreachable", address=address, text=f"does not answer within {limit:g} s")
    except ModelError as error:
        reason = error.message.rpartition(": ")[2]
        return ServerReport(state="unreachable", address=address, text=f"cannot be reached: {reason}")
    state, text = _judge(status, body)
    models = requester.protocol.read_models(_parse(body)) if state == "answers" else ()
    usual = describe_address(requester.endpoint.provider, requester.endpoint.api)
    return ServerReport(state=state, address=address, text=text, models=models, usual=usual)


def _judge(status: int, body: bytes) -> tuple[ServerState, str]:
    if status in (401, 403):
        return "key", f"rejects the API key (HTTP {status})"
    if status >= 500:
        return "failing", f"returns HTTP {status}"
    if status != 200:
        return "unlisted", f"responds, but does not list its models (HTTP {status})"
    if body.lstrip()[:1] == b"<":
        return "page", "responds with a web page"
    return "answers", "answers"


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
