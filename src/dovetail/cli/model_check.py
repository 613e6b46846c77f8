"""Which model would answer, and whether it can."""

import importlib.util
import json
import urllib.error
import urllib.request
from typing import Any

from dovetail.cli.checks import Check
from dovetail.data.shapes import is_list, is_mapping
from dovetail.errors import DovetailError
from dovetail.requesters.endpoint import Endpoint
from dovetail.requesters.openai import OpenAIRequester
from dovetail.requesters.resolve import resolve
from dovetail.settings import default_settings

ANSWER_LIMIT = 5.0


def check_model() -> Check:
    """The chosen model: an embedded one needs its weights, another one a server that answers."""
    settings = default_settings()
    chosen = settings.get("model.name")
    try:
        requester = resolve(None, settings)
    except DovetailError as error:
        return Check("missing", "model", error.message, error.hint or "")
    source = "DOVETAIL_MODEL" if chosen else "the best one here"
    if isinstance(requester, OpenAIRequester):
        return _check_endpoint(requester.model, requester.endpoint)
    if requester.model.startswith("local:") and importlib.util.find_spec("xllamacpp") is None:
        text = f"{requester.model} needs the package xllamacpp"
        return Check("missing", "model", text, "pip install 'dovetail[local]'")
    return Check("ok", "model", f"{requester.model} ({source})")


def _check_endpoint(model: str, endpoint: Endpoint) -> Check:
    address = endpoint.join("models")
    request = urllib.request.Request(address, headers=endpoint.build_headers())
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_LIMIT) as response:
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
    return Check("ok", "model", f"{model} at {endpoint.base_url}")


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
