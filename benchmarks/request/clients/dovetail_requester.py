"""Dovetail's requester alone: deltas, no agent."""

from benchmarks.request.timing import MESSAGES, time_client
from dovetail.events.call import ModelRequest
from dovetail.events.delta import TextDelta
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.openai.requester import OpenAIRequester


def connect(url, model):
    requester = OpenAIRequester(Endpoint(model=model, base_url=url))
    request = ModelRequest(messages=MESSAGES)

    async def ask():
        return "".join([delta.text async for delta in requester.stream(request) if type(delta) is TextDelta])

    return ask


time_client(connect)
