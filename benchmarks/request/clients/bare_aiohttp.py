"""aiohttp and one `json.loads` per chunk: the least a client on aiohttp can do."""

import json
import logging

import aiohttp

from benchmarks.request.timing import MESSAGES, time_client


def connect(url, model):
    session = None
    body = {"model": model, "messages": MESSAGES, "stream": True, "stream_options": {"include_usage": True}}

    async def ask():
        nonlocal session
        if session is None:
            session = aiohttp.ClientSession()
        pieces = []
        async with session.post(f"{url}/chat/completions", json=body) as response:
            async for line in response.content:
                if line.startswith(b"data: ") and line != b"data: [DONE]\n":
                    for choice in json.loads(line[6:])["choices"]:
                        pieces.append(choice["delta"].get("content") or "")
        return "".join(pieces)

    return ask


logging.getLogger("asyncio").disabled = True  # the session is never closed; do not log that
time_client(connect)
