"""pydantic-ai with its OpenAI model."""

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from benchmarks.request.timing import MESSAGES, time_client


def connect(url, model):
    provider = OpenAIProvider(base_url=url, api_key="none")
    agent = Agent(OpenAIChatModel(model, provider=provider))

    async def ask():
        async with agent.run_stream(MESSAGES[0]["content"]) as result:
            return "".join([piece async for piece in result.stream_text(delta=True, debounce_by=None)])

    return ask


time_client(connect)
