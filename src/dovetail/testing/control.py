"""Routes by which another process steers a scripted server: add replies, open gates, read the requests.

`POST /script/replies` takes a list of replies, `DELETE /script/replies` drops those that nobody asked for,
`POST /script/gates/<name>` opens a gate, `GET /script/requests` gives the bodies of the requests so far.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aiohttp import web

from dovetail.requesters.script.script import Script


def add_control_routes(
    app: web.Application, script: Script, list_bodies: Callable[[], Sequence[Mapping[str, Any]]]
) -> None:
    """Put the steering routes into the server's application."""

    async def add_replies(request: web.Request) -> web.Response:
        script.add(*await request.json())
        return web.json_response({"unused": len(script.unused)})

    async def drop_replies(request: web.Request) -> web.Response:
        return web.json_response({"dropped": script.clear()})

    async def open_gate(request: web.Request) -> web.Response:
        script.gate(request.match_info["name"]).open()
        return web.json_response({"opened": request.match_info["name"]})

    async def list_requests(request: web.Request) -> web.Response:
        return web.json_response(list_bodies())

    app.router.add_post("/script/replies", add_replies)
    app.router.add_delete("/script/replies", drop_replies)
    app.router.add_post("/script/gates/{name}", open_gate)
    app.router.add_get("/script/requests", list_requests)
