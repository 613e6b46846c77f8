"""The peer openai-agents."""

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from benchmarks.tools.peer import main


@function_tool
def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


def make(url):
    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel("scripted", AsyncOpenAI(base_url=url, api_key="none"))
    agent = Agent(name="counter", model=model, tools=[add])

    async def run():
        result = Runner.run_streamed(agent, "Count to 21.", max_turns=30)
        async for _ in result.stream_events():
            pass
        return result.final_output

    return run


if __name__ == "__main__":
    main(make)
