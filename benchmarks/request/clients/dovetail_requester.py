"""Dovetail's requester alone: deltas, no agent."""

from benchmarks.request.timing import MESSAGES, PROTOCOL, time_client
from dovetail.events.call import ModelRequest
from dovetail.events.delta import TextDelta
from dovetail.requesters.resolve import resolve
from dovetail.settings import as_settings


def connect(url, model):
    options = {"base_url": url, "api_key": "none", "api": PROTOCOL.API}
    requester = resolve(f"{PROTOCOL.PROVIDER}:{model}", as_settings({"model": options}))
    request = ModelRequest(messages=MESSAGES)

    async def ask():
        return "".join([delta.text async for delta in requester.stream(request) if type(delta) is TextDelta])

    return ask


time_client(connect)
