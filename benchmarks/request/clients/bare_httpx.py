"""httpx and one `json.loads` per chunk: the least a client on httpx can do."""

import json

import httpx

from benchmarks.request.timing import PROTOCOL, time_client

split = getattr(PROTOCOL, "split", None)


async def read_binary(pieces):
    buffer, texts = bytearray(), []
    async for piece in pieces:
        buffer += piece
        texts += [PROTOCOL.read_text(json.loads(payload)) for payload in split(buffer)]
    return "".join(texts)


def connect(url, model):
    client = httpx.AsyncClient(limits=httpx.Limits(max_connections=100), timeout=60)
    path, body = PROTOCOL.name_path(model), PROTOCOL.build_body(model)

    async def ask():
        pieces = []
        async with client.stream("POST", f"{url}{path}", json=body) as response:
            if split is not None:
                return await read_binary(response.aiter_bytes())
            async for line in response.aiter_lines():
                if line.startswith("data: ") and line != "data: [DONE]":
                    pieces.append(PROTOCOL.read_text(json.loads(line[6:])))
        return "".join(pieces)

    return ask


time_client(connect)
