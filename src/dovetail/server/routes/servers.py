"""The configured MCP servers: their state, their last lines, reconnecting and logins."""

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from dovetail.errors import ToolError
from dovetail.server.auth import LOGIN_CALLBACK, NEEDS_ADMIN
from dovetail.server.errors import InvalidRequest
from dovetail.server.schemas import App, to_iso

router = APIRouter(prefix="/api/v1/servers", tags=["servers"])


@router.get("", dependencies=[NEEDS_ADMIN])
async def list_servers(app: App) -> dict[str, Any]:
    """List the configured MCP servers as this process sees them; this needs the admin."""
    return {"servers": [_describe(server) for server in app.mcp.describe()]}


@router.get("/callback", include_in_schema=False)
async def finish_login(
    app: App, state: str = "", code: str = "", iss: str | None = None, error: str = ""
) -> Response:
    """Take the code of a login from the browser, and send it back to the page."""
    name, login = app.mcp.find_login(state)
    if await login.finish(code, state, iss, error):
        await app.mcp.reconnect(name)
        app.runs.link.announce("reload", "")
    return RedirectResponse(f"/#/room/servers/{quote(name)}", status_code=303)


@router.post("/{name}/reconnect", dependencies=[NEEDS_ADMIN])
async def reconnect_server(name: str, app: App) -> dict[str, Any]:
    """Close the connection to an MCP server and open it again; this needs the admin."""
    await app.mcp.reconnect(name)
    return _describe(*app.mcp.describe(name))


@router.post("/{name}/login", dependencies=[NEEDS_ADMIN])
async def start_login(name: str, app: App, request: Request) -> dict[str, str]:
    """Start a login at an MCP server; return the address to open in a browser. This needs the admin."""
    try:
        address = await app.mcp.get_login(name).begin(f"{_find_origin(request)}{LOGIN_CALLBACK}")
    except ToolError as error:
        raise InvalidRequest(error.message, hint=error.hint) from error
    return {"address": address}


@router.delete("/{name}/login", dependencies=[NEEDS_ADMIN])
async def end_login(name: str, app: App) -> dict[str, Any]:
    """Forget the tokens of a login; this needs the admin."""
    await app.mcp.log_out(name)
    return _describe(*app.mcp.describe(name))


def _find_origin(request: Request) -> str:
    """Return the address of this server as the browser knows it, also behind a proxy that ends TLS."""
    origin = request.headers.get("origin", "")
    if origin.partition("://")[2] == request.headers.get("host"):
        return origin
    return str(request.base_url).rstrip("/")


def _describe(server: dict[str, Any]) -> dict[str, Any]:
    lines = [{**line, "at": to_iso(line["at"])} for line in server["log"]]
    return {**server, "connected_at": to_iso(server["connected_at"]), "log": lines}
