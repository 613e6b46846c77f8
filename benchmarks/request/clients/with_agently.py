"""agently."""

from agently import Agently

from benchmarks.request.timing import MESSAGES, time_client


def connect(url, model):
    agent = Agently.create_agent()
    agent.set_settings("OpenAICompatible", {"base_url": url, "model": model, "api_key": "none"})

    async def ask():
        response = agent.input(MESSAGES[0]["content"]).get_response()
        return "".join([delta async for delta in response.get_async_generator(type="delta")])

    return ask


time_client(connect)
