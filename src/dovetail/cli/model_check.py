"""Which model would answer, and whether it can."""

import base64
import importlib.util
import json
import os
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import unquote, urlsplit

from dovetail.cli.checks import Check
from dovetail.data.shapes import is_list, is_mapping
from dovetail.errors import DovetailError
from dovetail.requesters.endpoint import Endpoint
from dovetail.requesters.openai import OpenAIRequester
from dovetail.requesters.resolve import resolve
from dovetail.requesters.secrets import show_address
from dovetail.settings import find_workspace, open_settings

ANSWER_LIMIT = 5.0


def check_model() -> Check:
    """The chosen model: an embedded one needs its weights, another one a server that answers."""
    try:
        settings = open_settings(None, find_workspace())
        requester = resolve(None, settings)
    except DovetailError as error:
        return Check("missing", "model", error.message, error.hint or "")
    source = "DOVETAIL_MODEL" if os.environ.get("DOVETAIL_MODEL") else "dovetail.toml"
    if not settings.get("model.name"):
        source = "the best one here"
    if isinstance(requester, OpenAIRequester):
        return _check_endpoint(requester.model, requester.endpoint)
    if requester.model.startswith("local:") and importlib.util.find_spec("xllamacpp") is None:
        text = f"{requester.model} needs the package xllamacpp"
        return Check("missing", "model", text, "pip install 'dovetail[local]'")
    return Check("ok", "model", f"{requester.model} ({source})")


def _check_endpoint(model: str, endpoint: Endpoint) -> Check:
    address = show_address(endpoint.join("models"))
    try:
        with _opener.open(_make_request(endpoint), timeout=ANSWER_LIMIT) as response:
            body = response.read()
    except urllib.error.HTTPError as error:
        with error:
            return _judge_refusal(model, address, error.code)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        hint = "Check the address (DOVETAIL_BASE_URL), the network and whether the server runs."
        return Check("missing", "model", f"{model}: {address} cannot be reached: {reason}", hint)
    if body.lstrip()[:1] == b"<":
        hint = "Check DOVETAIL_BASE_URL: it usually ends in /v1. A proxy or log-in page may stand in between."
        return Check("missing", "model", f"{model}: {address} answers with a web page", hint)
    names = _read_names(body)
    if names and endpoint.model not in names:
        known = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        return Check("missing", "model", f"{model}: the server does not know it", f"It knows: {known}")
    return Check("ok", "model", f"{model} at {show_address(endpoint.base_url)}")


def _make_request(endpoint: Endpoint) -> urllib.request.Request:
    """The question which models there are; a user in the address goes into a header, as urllib wants it."""
    parts = urlsplit(endpoint.join("models"))
    headers = endpoint.build_headers()
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers.setdefault("authorization", f"Basic {base64.b64encode(user.encode()).decode()}")
    address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return urllib.request.Request(address, headers=headers)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The key goes to the address that was set, and to no other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _judge_refusal(model: str, address: str, status: int) -> Check:
    if status in (401, 403):
        text = f"{model}: {address} refuses the API key (HTTP {status})"
        return Check("missing", "model", text, "Set DOVETAIL_API_KEY to a key that this server takes.")
    if status >= 500:
        return Check("missing", "model", f"{model}: {address} answers HTTP {status}", "Try again later.")
    return Check("ok", "model", f"{model}; {address} answers, but does not list its models (HTTP {status})")


def _read_names(body: bytes) -> list[str]:
    try:
        data: Any = json.loads(body)
    except ValueError:
        return []
    entries = data.get("data") if is_mapping(data) else None
    return [
        str(entry["id"])
        for entry in (entries if is_list(entries) else ())
        if is_mapping(entry) and "id" in entry
    ]
