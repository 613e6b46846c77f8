"""Dovetail from end to end: prompt, hooks, requester, response, deltas to a reader."""

from benchmarks.request.timing import MESSAGES, time_client
from dovetail import Agent


def connect(url, model):
    agent = Agent()
    agent.settings.set("model.name", f"openai:{model}")
    agent.settings.set("model.base_url", url)
    agent.settings.set("model.api_key", "none")

    async def ask():
        answer = agent.input(MESSAGES[0]["content"])
        return "".join([delta async for delta in answer.async_get_generator(type="delta")])

    return ask


time_client(connect)
