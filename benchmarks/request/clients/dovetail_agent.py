"""Dovetail from end to end: prompt, hooks, requester, response, deltas to a reader."""

from benchmarks.request.timing import MESSAGES, PROTOCOL, time_client
from dovetail import Agent


def connect(url, model):
    options = {"base_url": url, "api_key": "none", "api": PROTOCOL.API}
    agent = Agent(model=f"{PROTOCOL.PROVIDER}:{model}", settings={"model": options})

    async def ask():
        answer = agent.input(MESSAGES[0]["content"])
        return "".join([delta async for delta in answer.async_get_generator(type="delta")])

    return ask


time_client(connect)
