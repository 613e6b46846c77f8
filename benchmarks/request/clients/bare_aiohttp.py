"""aiohttp and one `json.loads` per chunk: the least a client on aiohttp can do."""

import json
import logging

import aiohttp

from benchmarks.request.timing import PROTOCOL, time_client

split = getattr(PROTOCOL, "split", None)


async def read_binary(pieces):
    buffer, texts = bytearray(), []
    async for piece in pieces:
        buffer += piece
        texts += [PROTOCOL.read_text(json.loads(payload)) for payload in split(buffer)]
    return "".join(texts)


def connect(url, model):
    session = None
    path, body = PROTOCOL.name_path(model), PROTOCOL.build_body(model)

    async def ask():
        nonlocal session
        if session is None:
            session = aiohttp.ClientSession()
        pieces = []
        async with session.post(f"{url}{path}", json=body) as response:
            if split is not None:
                return await read_binary(response.content.iter_any())
            async for line in response.content:
                if line.startswith(b"data: ") and line != b"data: [DONE]\n":
                    pieces.append(PROTOCOL.read_text(json.loads(line[6:])))
        return "".join(pieces)

    return ask


logging.getLogger("asyncio").disabled = True  # the session is never closed; do not log that
time_client(connect)
