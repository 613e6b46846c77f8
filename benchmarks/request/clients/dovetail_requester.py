"""Dovetail's requester alone: deltas, no agent."""

from benchmarks.request.timing import MESSAGES, time_client
from dovetail.messages.delta import TextDelta
from dovetail.messages.request import ModelRequest
from dovetail.requesters.endpoint import Endpoint
from dovetail.requesters.openai import OpenAIRequester


def connect(url, model):
    requester = OpenAIRequester(Endpoint(model=model, base_url=url))
    request = ModelRequest(messages=MESSAGES)

    async def ask():
        return "".join([delta.text async for delta in requester.stream(request) if type(delta) is TextDelta])

    return ask


time_client(connect)
