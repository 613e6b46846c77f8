"""The peer pydantic-ai."""

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

from benchmarks.tools.peer import main


def make(url):
    agent = Agent(OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=url, api_key="none")))

    @agent.tool_plain
    def add(first: int, second: int) -> int:
        """Add two numbers."""
        return first + second

    async def run():
        async with agent.run_stream("Count to 21.", usage_limits=UsageLimits(request_limit=None)) as result:
            return await result.get_output()

    return run


if __name__ == "__main__":
    main(make)
