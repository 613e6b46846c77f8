"""The least that a server can do: forward the bytes of the model as they arrive."""

import sys

import aiohttp
import uvicorn

UPSTREAM, PORT = sys.argv[1], int(sys.argv[2])
HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8")]
BODY = {"model": "scripted", "messages": [{"role": "user", "content": "Say words."}], "stream": True}
session: aiohttp.ClientSession | None = None


async def app(scope, receive, send):
    """Answer one request."""
    global session
    if scope["type"] != "http":
        return
    if session is None:
        connector = aiohttp.TCPConnector(limit=0)
        session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
    while (await receive()).get("more_body"):
        pass
    async with session.post(f"{UPSTREAM}/chat/completions", json=BODY) as response:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        async for data in response.content.iter_any():
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


if __name__ == "__main__":
    uvicorn.run(app, port=PORT, log_level="critical", access_log=False, lifespan="off", backlog=2048)
