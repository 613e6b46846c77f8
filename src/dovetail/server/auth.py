"""Who may come in, as a layer around the app.

With API keys everybody has a name, and sees only what belongs to it. Without them everybody is the same local
owner, so then only this machine may come in, not through a proxy either, and only pages of this server may
change anything: a page of another site cannot speak through the user's browser.
"""

import base64
import hashlib
import hmac
import logging
import math
import re
from collections.abc import Mapping, Sequence

from fastapi import APIRouter
from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from dovetail.data.text import report_error
from dovetail.errors import ConfigError, NotFoundError
from dovetail.events.run_context import current_context, entered
from dovetail.server.errors import AccessError, error_response, is_kept
from dovetail.server.middleware.client_address import find_outside
from dovetail.server.middleware.rate_limit import Buckets, refuse_for
from dovetail.server.schemas import SignInBody
from dovetail.settings import LOCAL_OWNER
from dovetail.settings.sections import ServerSettings

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


logger = logging.getLogger(__name__)

_SHORT_KEY = 16
MOST_WRONG_KEYS = 30
"""Wrong keys of one address in a minute that are answered with a 401; further ones get a 429."""

_HASH = re.compile(r"[0-9a-f]{64}")
_OPEN_PATHS = frozenset({"/healthz", "/readyz"})
SIGN_IN = "/api/v1/sign-in"
RELOAD = "/api/v1/extensions/reload"
ADMIN_HEADER = "x-admin-token"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class AccessLayer:
    """Lets requests in or answers with 401 or 403."""

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
        """The answer to a request that may not come in; wrong keys are counted, right ones never get here."""
        if error.status == 401 and scope.get("has_wrong_key"):
            client = scope.get("client")
            seconds = math.ceil(self._wrong_keys.take(client[0] if client else ""))
            if seconds:
                return refuse_for(seconds, f"more than {MOST_WRONG_KEYS} wrong API keys in a minute", scope)
        return error_response(error.status, report_error(error), scope["path"])

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if not self._keys:
            outside = None if self._is_open else find_outside(scope)
            if outside is not None:
                raise AccessError(
                    f"this server answers only to this machine, and {outside}",
                    hint="Open it as http://127.0.0.1, or start it with API keys (DOVETAIL_API_KEYS).",
                )
            self._check_page(scope, headers)
            scope["owner"] = LOCAL_OWNER
        elif scope["path"] == SIGN_IN:
            self._check_page(scope, headers)
        elif self._is_for_admins(scope, headers):
            scope["owner"] = LOCAL_OWNER  # whether the token is right, `require_admin` says
        elif is_kept(scope["path"]):
            scope["owner"] = self._find_owner(scope, headers)

    def _is_for_admins(self, scope: Scope, headers: Headers) -> bool:
        """Whether a request brings the admin token where that is enough: a reload belongs to no owner."""
        return self._has_admin_token and scope["path"] == RELOAD and ADMIN_HEADER in headers

    def _check_page(self, scope: Scope, headers: Headers) -> None:
        """Refuse a page of another site that wants to change something in the user's name."""
        origin = headers.get("origin")
        if origin is None or scope["method"] in _SAFE_METHODS or origin in self._origins:
            return
        if origin.partition("://")[2] != headers.get("host", ""):
            raise AccessError(
                f"pages of {origin!r} may not change anything here",
                hint="Name the origin in DOVETAIL_CORS_ORIGINS on the server to let them; if it is this "
                "server's own page, have the proxy pass the header `Host` on.",
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


def find_owner(keys: Mapping[str, str], key: str | None) -> str:
    """Whose key it is."""
    owner = keys.get(hash_key(key)) if key else None
    if owner is None:
        raise AccessError(
            "an API key is needed and none, or an unknown one, was given",
            status=401,
            hint="Send the header `Authorization: Bearer <key>`, or sign in on the page.",
        )
    return owner


def parse_api_keys(text: str) -> dict[str, str]:
    """API keys from `name:key` pairs with commas between; gives the names by the hashes of the keys.

    A key may be given as its hash, `name:sha256:<64 hexadecimal digits>`, so that no secret lies in a file.
    """
    keys: dict[str, str] = {}
    pairs = filter(None, (part.strip() for part in text.split(",")))
    for number, pair in enumerate(pairs, 1):
        name, _, key = pair.partition(":")
        if not name or not key:
            raise ConfigError(
                f"entry {number} of DOVETAIL_API_KEYS is no name and key with a colon between",
                hint="It looks like ann:key1,bob:key2.",
            )
        hashed = _read_hash(name, key) if key.startswith("sha256:") else hash_key(key)
        if hashed in keys:
            raise ConfigError(f"{keys[hashed]!r} and {name!r} have the same key in DOVETAIL_API_KEYS")
        if len(key) < _SHORT_KEY:
            logger.warning("the API key of %r is short: others could guess it", name)
        keys[hashed] = name
    return keys


def _read_hash(name: str, key: str) -> str:
    hashed = key.removeprefix("sha256:").lower()
    if not _HASH.fullmatch(hashed):
        raise ConfigError(
            f"the hash of the API key of {name!r} is not of 64 hexadecimal digits",
            hint="`printf %s <key> | sha256sum` tells it.",
        )
    return hashed


def hash_key(key: str) -> str:
    """The form in which keys are kept and compared."""
    return hashlib.sha256(key.encode()).hexdigest()


def _read_text(header: str) -> str:
    """A header as it was written: most clients send UTF-8, and headers are read as Latin-1."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return header


def require_admin(request: Request) -> None:
    """Let the request pass when it brings the admin token, or comes from this machine when none is set."""
    token: str = request.app.state.dovetail.settings.section(ServerSettings).admin_token or ""
    if token:
        given = _read_text(request.headers.get(ADMIN_HEADER, ""))
        if not hmac.compare_digest(given.encode(), token.encode()):
            raise AccessError("the header x-admin-token is missing or wrong")
    elif outside := find_outside(request.scope):
        raise AccessError(
            f"only this machine may do that, and {outside}", hint="Set EXTENSIONS_ADMIN_TOKEN on the server."
        )


router = APIRouter(tags=["access"])


@router.post(SIGN_IN)
async def sign_in(body: SignInBody, request: Request, response: Response) -> dict[str, str]:
    """Keep an API key in a cookie of the browser and tell whose it is."""
    keys = request.app.state.keys
    if not keys:
        raise NotFoundError("this server has no API keys, so nobody needs to sign in")
    owner = find_owner(keys, body.key)
    give_key(response, request, body.key)
    return {"owner": owner}


@router.delete(SIGN_IN, status_code=204)
async def sign_out(request: Request, response: Response) -> None:
    """Let the browser forget its API key."""
    take_key(response, request)
