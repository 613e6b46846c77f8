"""Access control: API keys, local connections, the admin token, and signing in on the page.

With API keys each caller has a name and sees only what belongs to it. Without them all callers are the same
local owner, so only local connections are accepted (none through a proxy), and only pages of this server may
change anything: a page of another site must not act through the user's browser.
"""

import base64
import hashlib
import hmac
import logging
import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from dovetail.data.text import report_error
from dovetail.errors import ConfigError, NotFoundError
from dovetail.events.run_context import current_context, entered
from dovetail.server.errors import AccessError, error_response, is_api
from dovetail.server.middleware.client_address import find_outside
from dovetail.server.middleware.rate_limit import Buckets, refuse_for
from dovetail.server.schemas import Owner, SignInBody
from dovetail.settings import LOCAL_OWNER
from dovetail.settings.sections import ServerSettings

logger = logging.getLogger(__name__)

_SHORT_KEY = 16
MOST_WRONG_KEYS = 30
"""Wrong keys from one address per minute that get a 401; further ones get a 429."""

_HASH = re.compile(r"[0-9a-f]{64}")
_OPEN_PATHS = frozenset({"/healthz", "/readyz"})
SIGN_IN = "/api/v1/sign-in"
RELOAD = "/api/v1/extensions/reload"
SHARED = "/api/v1/shared/"
"""Below it are the chats that their owners have shared with everyone who has the link."""
LOGIN_CALLBACK = "/api/v1/servers/callback"
"""Where a browser comes back from a login; it has no key then, but a state that cannot be guessed."""
ADMIN_HEADER = "x-admin-token"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_COOKIE = "dovetail_key"
_SET_TOKEN = "Set EXTENSIONS_ADMIN_TOKEN on the server, and send it in the header x-admin-token."
_MONTH = 30 * 24 * 60 * 60


class AccessLayer:
    """Accept requests, or respond with 401 or 403."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: Mapping[str, str],
        is_open: bool = False,
        origins: Sequence[str] = (),
        has_admin_token: bool = False,
    ) -> None:
        self._app = app
        self._has_admin_token = has_admin_token
        self._origins = origins
        self._keys = keys
        self._is_open = is_open
        self._wrong_keys = Buckets(MOST_WRONG_KEYS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"] not in _OPEN_PATHS:
            try:
                self._check(scope)
            except AccessError as error:
                await self._refuse(error, scope)(scope, receive, send)
                return
        with entered(current_context().for_request(owner=scope.get("owner", LOCAL_OWNER))):
            await self._app(scope, receive, send)

    def _refuse(self, error: AccessError, scope: Scope) -> Response:
        """Return the response to a rejected request; wrong keys are counted, right ones never get here."""
        if error.status == 401 and scope.get("has_wrong_key"):
            client = scope.get("client")
            seconds = math.ceil(self._wrong_keys.take(client[0] if client else ""))
            if seconds:
                return refuse_for(seconds, f"More than {MOST_WRONG_KEYS} wrong API keys in a minute.", scope)
        return error_response(error.status, report_error(error), scope["path"])

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if not self._keys:
            outside = None if self._is_open else find_outside(scope)
            if outside is not None:
                raise AccessError(
                    f"This server only accepts local connections: {outside}.",
                    hint="Open it as http://127.0.0.1, or start it with API keys (DOVETAIL_API_KEYS).",
                )
            self._check_page(scope, headers)
            scope["owner"] = LOCAL_OWNER
        elif scope["path"] == SIGN_IN:
            self._check_page(scope, headers)
        elif self._is_for_admins(scope, headers):
            scope["owner"] = LOCAL_OWNER  # whether the token is right, `require_admin` says
        elif is_api(scope["path"]) and not _is_for_everyone(scope["path"]):
            scope["owner"] = self._find_owner(scope, headers)

    def _is_for_admins(self, scope: Scope, headers: Headers) -> bool:
        """Whether a request has the admin token where that is enough: a reload belongs to no owner."""
        return self._has_admin_token and scope["path"] == RELOAD and ADMIN_HEADER in headers

    def _check_page(self, scope: Scope, headers: Headers) -> None:
        """Raise if a page of another site tries to change something in the user's name."""
        origin = headers.get("origin")
        if origin is None or scope["method"] in _SAFE_METHODS or origin in self._origins:
            return
        if origin.partition("://")[2] != headers.get("host", ""):
            raise AccessError(
                f"Pages of {origin!r} may not change anything on this server.",
                hint="Add the origin to DOVETAIL_CORS_ORIGINS; if it is the page of this server, make the "
                "proxy pass the `Host` header on.",
            )

    def _find_owner(self, scope: Scope, headers: Headers) -> str:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            scope["has_wrong_key"] = bool(key)
            return find_owner(self._keys, _read_text(key))
        key = read_key(headers.get("cookie", ""))
        scope["has_wrong_key"] = bool(key)
        owner = find_owner(self._keys, key)
        self._check_page(scope, headers)  # a browser sends cookies whoever asks it to
        return owner


def _is_for_everyone(path: str) -> bool:
    return path == LOGIN_CALLBACK or path.startswith(SHARED)


def find_owner(keys: Mapping[str, str], key: str | None) -> str:
    """Return the owner of a key."""
    owner = keys.get(hash_key(key)) if key else None
    if owner is None:
        raise AccessError(
            "Missing or unknown API key.",
            status=401,
            hint="Send the header `Authorization: Bearer <key>`, or sign in on the page.",
        )
    return owner


def parse_api_keys(text: str) -> dict[str, str]:
    """Parse comma-separated `name:key` pairs; return the names by the hashes of the keys.

    A key may be written as its hash, `name:sha256:<64 hex digits>`, so that no file contains a secret.
    """
    keys: dict[str, str] = {}
    pairs = filter(None, (part.strip() for part in text.split(",")))
    for number, pair in enumerate(pairs, 1):
        name, _, key = pair.partition(":")
        if not name or not key:
            raise ConfigError(
                f"DOVETAIL_API_KEYS: entry {number} must have the form name:key.",
                hint="Example: ann:key1,bob:key2",
            )
        hashed = _read_hash(name, key) if key.startswith("sha256:") else hash_key(key)
        if hashed in keys:
            raise ConfigError(f"DOVETAIL_API_KEYS: {keys[hashed]!r} and {name!r} have the same key.")
        if len(key) < _SHORT_KEY:
            logger.warning("the API key of %r is short and could be guessed", name)
        keys[hashed] = name
    return keys


def _read_hash(name: str, key: str) -> str:
    hashed = key.removeprefix("sha256:").lower()
    if not _HASH.fullmatch(hashed):
        raise ConfigError(
            f"The SHA-256 hash for key {name!r} must be 64 hex digits.",
            hint="Compute it with `printf %s <key> | sha256sum`.",
        )
    return hashed


def give_key(response: Response, request: Request, key: str) -> None:
    """Set the cookie with which the browser sends the key; only over TLS if it came over TLS."""
    value = base64.urlsafe_b64encode(key.encode()).decode()
    is_secure = request.url.scheme == "https"
    response.set_cookie(_COOKIE, value, max_age=_MONTH, httponly=True, samesite="strict", secure=is_secure)


def take_key(response: Response, request: Request) -> None:
    """Delete the cookie with the key."""
    is_secure = request.url.scheme == "https"
    response.delete_cookie(_COOKIE, httponly=True, samesite="strict", secure=is_secure)


def read_key(cookies: str) -> str | None:
    """Return the key in a `Cookie` header, if any."""
    value = cookie_parser(cookies).get(_COOKIE, "")
    try:
        return base64.urlsafe_b64decode(value).decode() or None
    except ValueError:
        return None


def hash_key(key: str) -> str:
    """Return the form in which keys are stored and compared."""
    return hashlib.sha256(key.encode()).hexdigest()


def _read_text(header: str) -> str:
    """Decode a header as it was written: most clients send UTF-8, and headers are read as Latin-1."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return header


def require_admin(request: Request) -> None:
    """Raise unless the request has the admin token or, if neither it nor API keys are set, is local."""
    token: str = request.app.state.dovetail.settings.section(ServerSettings).admin_token or ""
    if token:
        given = _read_text(request.headers.get(ADMIN_HEADER, ""))
        if not hmac.compare_digest(given.encode(), token.encode()):
            raise AccessError("The header x-admin-token is missing or wrong.")
    elif request.app.state.keys:  # a key belongs to a user; none of them is the operator
        raise AccessError("Only the admin may do this, and this server has no admin token.", hint=_SET_TOKEN)
    elif outside := find_outside(request.scope):
        raise AccessError(f"Only local connections may do this: {outside}.", hint=_SET_TOKEN)


NEEDS_ADMIN: Any = Depends(require_admin)
"""What a route depends on that needs the admin; it is checked before the body of the request."""


def sees_all(request: Request) -> bool:
    """Whether the caller may see the data of other owners, which needs the admin."""
    try:
        require_admin(request)
    except AccessError:
        return False
    return True


def require_sight(request: Request) -> None:
    """Raise unless the caller may see the data of other owners."""
    if not sees_all(request):
        raise AccessError(
            "The data of other owners needs the admin.",
            hint="Send the header x-admin-token; the server has it as EXTENSIONS_ADMIN_TOKEN.",
        )


def choose_owners(
    request: Request,
    own: Owner,
    owner: Annotated[str | None, Query(max_length=200, description="A name, or `*` for all owners.")] = None,
) -> str | None:
    """Return whose data the caller asks for, by default its own; None means that of all owners.

    The data of other owners needs the admin.
    """
    if owner is None or owner == own:
        return own
    require_sight(request)
    return None if owner == "*" else owner


Reach = Annotated[str | None, Depends(choose_owners)]
"""Whose data a route shows or changes; None for that of all owners."""

router = APIRouter(tags=["access"])


@router.post(SIGN_IN)
async def sign_in(body: SignInBody, request: Request, response: Response) -> dict[str, str]:
    """Keep an API key in a cookie of the browser; return its owner."""
    keys = request.app.state.keys
    if not keys:
        raise NotFoundError("Sign-in is disabled: no API keys are configured.")
    owner = find_owner(keys, body.key)
    give_key(response, request, body.key)
    return {"owner": owner}


@router.delete(SIGN_IN, status_code=204)
async def sign_out(request: Request, response: Response) -> None:
    """Delete the API key from the browser."""
    take_key(response, request)
