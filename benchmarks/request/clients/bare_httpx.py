"""httpx and one `json.loads` per chunk: the least a client on httpx can do."""

import json

import httpx

from benchmarks.request.timing import PROTOCOL, time_client


def connect(url, model):
    client = httpx.AsyncClient(limits=httpx.Limits(max_connections=100), timeout=60)
    path, body = PROTOCOL.name_path(model), PROTOCOL.build_body(model)

    async def ask():
        pieces = []
        async with client.stream("POST", f"{url}{path}", json=body) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: ") and line != "data: [DONE]":
                    pieces.append(PROTOCOL.read_text(json.loads(line[6:])))
        return "".join(pieces)

    return ask


time_client(connect)
