"""httpx and one `json.loads` per chunk: the least a client on httpx can do."""

import json

import httpx

from benchmarks.request.timing import MESSAGES, time_client


def connect(url, model):
    client = httpx.AsyncClient(limits=httpx.Limits(max_connections=100), timeout=60)
    body = {"model": model, "messages": MESSAGES, "stream": True, "stream_options": {"include_usage": True}}

    async def ask():
        pieces = []
        async with client.stream("POST", f"{url}/chat/completions", json=body) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: ") and line != "data: [DONE]":
                    for choice in json.loads(line[6:])["choices"]:
                        pieces.append(choice["delta"].get("content") or "")
        return "".join(pieces)

    return ask


time_client(connect)
