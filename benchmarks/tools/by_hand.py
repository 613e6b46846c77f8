"""The same requests with a bare client: send, stream, parse each chunk, make the call."""

import json

import httpx

from benchmarks.tools.server import CALLS, TOOL


async def run(client: httpx.AsyncClient, url: str) -> str:
    """Run the least that a loop of calls must do; return the answer."""
    messages: list[object] = [{"role": "user", "content": "Count to 21."}]
    for _ in range(CALLS + 1):
        body = {
            "model": "scripted",
            "messages": messages,
            "stream": True,
            "tools": [{"type": "function", "function": TOOL}],
        }
        text, call_id, arguments = "", "", ""
        async with client.stream("POST", f"{url}/chat/completions", json=body) as response:
            async for line in response.aiter_lines():
                if not line.startswith("data: {"):
                    continue
                for choice in json.loads(line[6:])["choices"]:
                    delta = choice["delta"]
                    text += delta.get("content") or ""
                    for call in delta.get("tool_calls") or ():
                        call_id = call.get("id") or call_id
                        arguments += call["function"]["arguments"]
        if not arguments:
            return text
        given = json.loads(arguments)
        function = {"name": "add", "arguments": arguments}
        call = {"id": call_id, "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        result = str(given["first"] + given["second"])
        messages.append({"role": "tool", "tool_call_id": call_id, "content": result})
    return text
