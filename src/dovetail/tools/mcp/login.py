"""Logins at MCP servers (OAuth): tokens in a file that only the owner may read, and getting new ones.

A login is two halves: `begin` returns the address that a person opens, `finish` takes the code with which
their browser comes back. Tokens are refreshed when they expire; other processes of the workspace read the
same file when they connect.
"""

import asyncio
import logging
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from dovetail.data.known_secrets import protect, protect_file
from dovetail.data.private_file import read_private, write_private
from dovetail.data.shapes import is_mapping
from dovetail.data.text import cut
from dovetail.errors import ConfigError, ToolError
from dovetail.lazy import lazy
from dovetail.tools.mcp.server import McpServer

httpx2 = lazy("httpx2", extra="mcp")
mcp_oauth = lazy("mcp.client.auth", extra="mcp")
mcp_tokens = lazy("mcp.shared.auth", extra="mcp")

logger = logging.getLogger(__name__)

ADDRESS_SECONDS = 30.0
"""The number of seconds in which the servers must have named the address to open."""

PERSON_SECONDS = 600.0
"""The number of seconds that a person has for a login."""

_LONGEST_REASON = 300
_SECRETS = ("access_token", "refresh_token", "id_token", "client_secret", "registration_access_token")
_FIRST_REQUEST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "dovetail", "version": "1"},
    },
}
_HEADERS = {"accept": "application/json, text/event-stream", "accept-encoding": "identity"}


class LoginFile:
    """The tokens of one server, as the MCP package stores and reads them.

    They belong to the address they were issued for: the tokens of a server that has moved are not sent.
    """

    def __init__(self, path: Path, server: McpServer) -> None:
        self.path = path
        self._server = server
        self.context: Any = None
        self.redirect: str | None = None
        protect_file(path, lambda path: _find_tokens(read_private(path)))

    @property
    def has_tokens(self) -> bool:
        """Whether a login has succeeded, and was not ended."""
        return "tokens" in self._read()

    def delete(self) -> None:
        """Forget the tokens, and the registration as a client."""
        self.path.unlink(missing_ok=True)

    async def get_tokens(self) -> Any:
        """Return the stored tokens; the provider also learns when they expire and where to refresh them."""
        data = self._read()
        if "tokens" not in data:
            return None
        self.context.token_expiry_time = data.get("expires_at")
        if data.get("metadata"):
            self.context.oauth_metadata = mcp_tokens.OAuthMetadata.model_validate(data["metadata"])
        return mcp_tokens.OAuthToken.model_validate(data["tokens"])

    async def set_tokens(self, tokens: Any) -> None:
        """Store tokens."""
        metadata = self.context.oauth_metadata
        self._write(
            tokens=_dump(tokens),
            expires_at=None if tokens.expires_in is None else time.time() + tokens.expires_in,
            metadata=None if metadata is None else _dump(metadata),
        )

    async def get_client_info(self) -> Any:
        """Return the registration as a client, unless it is for another address of this server."""
        data = self._read().get("client")
        if data is None or (self.redirect and self.redirect not in data.get("redirect_uris", [])):
            return None
        return mcp_tokens.OAuthClientInformationFull.model_validate(data)

    async def set_client_info(self, client_info: Any) -> None:
        """Store the registration as a client."""
        self._write(client=_dump(client_info))

    def _read(self) -> dict[str, Any]:
        try:
            data = read_private(self.path)
        except ConfigError as error:
            logger.warning("%s", error)
            return {}
        protect(_find_tokens(data))
        return data if data.get("url") == self._server.url else {}

    def _write(self, **fields: Any) -> None:
        protect(_find_tokens(fields))
        write_private(self.path, {**self._read(), "url": self._server.url, **fields})


class Login:
    """The login at one server; `state` is that of the browser that is expected back."""

    def __init__(self, server: McpServer, folder: Path) -> None:
        self.server = server
        self.file = LoginFile(folder / f"{server.name}.json", server)
        self.error = ""
        self.state: str | None = None
        self._work: asyncio.Task[None] | None = None
        self._address: asyncio.Future[str] | None = None
        self._code: asyncio.Future[Any] | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a person is expected to log in."""
        return self.state is not None

    def make_auth(self) -> Any:
        """Return the authentication of requests; None before a login."""
        return self._make_provider(None) if self.file.has_tokens else None

    async def begin(self, redirect: str) -> str:
        """Return the address to open; the browser comes back to `redirect`.

        Raises:
            ToolError: the server does not ask for a login, or does not say where.
        """
        await self.cancel()
        loop = asyncio.get_running_loop()
        self.error, self._address, self._code = "", loop.create_future(), loop.create_future()
        self._work = asyncio.create_task(self._ask(redirect), name=f"login {self.server.name}")
        await asyncio.wait(
            [self._work, self._address], timeout=ADDRESS_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        if self._address.done():
            return self._address.result()
        if not self._work.done():
            self.error = f"No answer within {ADDRESS_SECONDS:g} s."
            await self.cancel()
        reason = self.error or "It does not ask for one."
        raise ToolError(f"Login at MCP server {self.server.name!r} is not possible: {reason}")

    async def finish(self, code: str, state: str, issuer: str | None = None, error: str = "") -> bool:
        """Take the code that the browser has brought; return whether the login has succeeded."""
        work, waiting = self._work, self._code
        if work is None or waiting is None or waiting.done():
            return False
        if error:
            self.error = cut(f"The login was refused: {error}.", _LONGEST_REASON)
            await self.cancel()
            return False
        waiting.set_result(mcp_oauth.AuthorizationCodeResult(code=code, state=state, iss=issuer))
        await asyncio.wait([work])
        return not self.error

    async def cancel(self) -> None:
        """Stop waiting for a person."""
        work, self._work, self.state = self._work, None, None
        if work is not None:
            work.cancel()
            await asyncio.wait([work])

    async def _ask(self, redirect: str) -> None:
        """Send one request; the package asks for tokens where the server refuses it."""
        provider = self._make_provider(redirect)
        try:
            async with asyncio.timeout(PERSON_SECONDS), httpx2.AsyncClient(auth=provider) as client:
                answer = await client.post(self.server.url, json=_FIRST_REQUEST, headers=_HEADERS)
            if answer.status_code in (401, 403):
                self.error = f"The server answered {answer.status_code} after the login."
        except TimeoutError:
            self.error = "The login was not completed within 10 minutes."
        except Exception as error:  # the package raises what it likes
            logger.warning("login at MCP server %r failed: %s", self.server.name, type(error).__name__)
            self.error = cut(str(error) or type(error).__name__, _LONGEST_REASON)
        finally:
            self.state = None

    def _make_provider(self, redirect: str | None) -> Any:
        metadata = mcp_tokens.OAuthClientMetadata(
            client_name="Dovetail",
            redirect_uris=[redirect or "http://127.0.0.1/"],
            token_endpoint_auth_method="none",
        )
        file = LoginFile(self.file.path, self.server)
        file.redirect = redirect
        handlers = (self._show, self._wait) if redirect else (_refuse, _refuse)
        provider = mcp_oauth.OAuthClientProvider(self.server.url, metadata, file, *handlers)
        file.context = provider.context
        return provider

    async def _show(self, address: str) -> None:
        if urlsplit(address).scheme not in ("http", "https"):
            raise ConfigError("The server names a login address that is not a web page.")
        self.state = parse_qs(urlsplit(address).query).get("state", [""])[0]
        if self._address is not None and not self._address.done():
            self._address.set_result(address)

    async def _wait(self) -> Any:
        assert self._code is not None
        return await self._code


def _find_tokens(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the secrets of a login: those of its tokens, and of the registration as a client."""
    for part in (data.get("tokens"), data.get("client")):
        if is_mapping(part):
            yield from (str(part[name]) for name in _SECRETS if part.get(name))


async def _refuse(*_: object) -> None:
    raise ConfigError("The login has expired.", hint="Log in again.")


def _dump(model: Any) -> Any:
    return model.model_dump(mode="json", exclude_none=True)
