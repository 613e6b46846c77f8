"""The API key of a page: in a cookie that scripts cannot read and pages of other sites cannot send."""

import base64

from starlette.requests import Request, cookie_parser
from starlette.responses import Response

_NAME = "dovetail_key"
_MONTH = 30 * 24 * 60 * 60


def give_key(response: Response, request: Request, key: str) -> None:
    """Let the browser send the key from now on; only over TLS, if it came over TLS."""
    value = base64.urlsafe_b64encode(key.encode()).decode()
    is_secure = request.url.scheme == "https"
    response.set_cookie(_NAME, value, max_age=_MONTH, httponly=True, samesite="strict", secure=is_secure)


def take_key(response: Response, request: Request) -> None:
    """Let the browser forget the key."""
    is_secure = request.url.scheme == "https"
    response.delete_cookie(_NAME, httponly=True, samesite="strict", secure=is_secure)


def read_key(cookies: str) -> str | None:
    """The key in a `Cookie` header, if it has one."""
    value = cookie_parser(cookies).get(_NAME, "")
    try:
        return base64.urlsafe_b64decode(value).decode() or None
    except ValueError:
        return None
