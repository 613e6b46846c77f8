"""Security headers."""

import re
from collections.abc import Awaitable, Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dovetail.errors import ConfigError

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src 'self' data: blob:",  # a remote image would reveal the reader to its host
        "connect-src 'self'",
        "frame-src http: https:",  # `open-url` shows pages in a sandboxed frame
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
    )
)

DIAGRAM_POLICY = "; ".join(
    (
        "default-src 'none'",  # a diagram comes from a model: its page can send nothing anywhere
        "script-src 'self'",
        "style-src 'unsafe-inline'",  # mermaid writes styles into what it draws
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    )
)

HEADERS = {
    "content-security-policy": f"{POLICY}; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
_ORIGIN = re.compile(r"https?://(\*\.)?[a-z0-9.-]+(:\d+)?|https?://\[[0-9a-f:.]+\](:\d+)?")


class SecurityHeaders:
    """Add the headers to every response that does not set them itself.

    `frame_ancestors` are the origins whose pages may show this one in a frame, or `self` or `none`.
    """

    def __init__(self, app: ASGIApp, *, frame_ancestors: Sequence[str] = ()) -> None:
        self._app = app
        self._headers = make_headers(frame_ancestors)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        def send_with_headers(message: Message) -> Awaitable[None]:  # not a coroutine: it is called per token
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            return send(message)

        await self._app(scope, receive, send_with_headers)


def make_headers(frame_ancestors: Sequence[str]) -> dict[str, str]:
    """Return the headers for a page that these origins may show in a frame.

    Raises:
        ConfigError: one is not an origin.
    """
    given = [each.strip("'\" ").rstrip("/").lower() for each in frame_ancestors]
    if given in ([], ["none"]):
        return HEADERS
    for each in given:
        if each == "none" or (each != "self" and not _ORIGIN.fullmatch(each)):
            raise ConfigError(
                f"server.frame_ancestors: invalid origin {each!r}.",
                hint="Examples: https://app.example, https://*.app.example, self; `none` stands alone.",
            )
    sources = " ".join("'self'" if each == "self" else each for each in given)
    # `X-Frame-Options` cannot list origins; browsers that know `frame-ancestors` ignore it anyway.
    headers = {name: value for name, value in HEADERS.items() if name != "x-frame-options"}
    return {**headers, "content-security-policy": f"{POLICY}; frame-ancestors {sources}"}
