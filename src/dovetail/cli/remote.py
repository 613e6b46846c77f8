"""Requests of commands to a running server."""

import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

import typer

from dovetail.data.shapes import is_dict, is_mapping
from dovetail.errors import ConfigError

_TIME_LIMIT = 60.0

_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def find_url() -> str:
    """Return where `dovetail serve` listens: on this machine, at the `HOST` and `PORT` that it reads, too."""
    host, port = os.environ.get("HOST") or "127.0.0.1", os.environ.get("PORT") or "8000"
    host = _EVERY_ADDRESS.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


URL: Any = typer.Option(
    find_url,
    help="The address of the server; by default http://127.0.0.1:8000, or the one that HOST and PORT name.",
    envvar="DOVETAIL_URL",
    show_default=False,
)
KEY: Any = typer.Option(None, help="An API key, if the server has keys.", envvar="DOVETAIL_SERVER_KEY")


def post(
    url: str,
    headers: Mapping[str, str],
    body: Mapping[str, Any] | None = None,
    *,
    hints: Mapping[int, str] | None = None,
) -> dict[str, Any]:
    """Send a POST request and return the JSON object of its response; `hints` explain statuses.

    Raises:
        ConfigError: no server responds, or it refuses the request.
    """
    if not url.startswith(("http://", "https://")):
        raise ConfigError(f"Invalid URL {url!r}: it must start with http:// or https://.")
    # As Latin-1, because urllib encodes headers so: the bytes that are sent are UTF-8.
    sent = {name: value.encode().decode("latin-1") for name, value in headers.items()}
    data = None
    if body is not None:
        data, sent["content-type"] = json.dumps(body).encode(), "application/json"
    request = urllib.request.Request(url, data, sent, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=_TIME_LIMIT) as response:
            report: Any = json.load(response)
    except urllib.error.HTTPError as error:
        text = _read_error(error.read().decode(errors="replace"))
        hint = (hints or {}).get(error.code)
        raise ConfigError(f"The server responded with HTTP {error.code}: {text}", hint=hint) from error
    except OSError as error:
        place = "/".join(url.split("/")[:3])
        cause = getattr(error, "reason", error)
        hint = "Start one with `dovetail serve`, or pass the address of another one with --url."
        raise ConfigError(f"No server responds at {place}: {cause}.", hint=hint) from error
    return report if is_dict(report) else {}


def name_caller(key: str | None) -> dict[str, str]:
    """Return the headers with which a request has the rights of an API key."""
    return {"authorization": f"Bearer {key}"} if key else {}


def _read_error(text: str) -> str:
    """Return the message of an error response; anything else as it is."""
    try:
        body: Any = json.loads(text)
    except ValueError:
        return text
    error = body.get("error") if is_mapping(body) else None
    return str(error["message"]) if is_mapping(error) and "message" in error else text
