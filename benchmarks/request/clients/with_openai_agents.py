"""openai-agents with its chat completions model."""

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI
from openai.types.responses import ResponseTextDeltaEvent

from benchmarks.request.timing import MESSAGES, time_client

set_tracing_disabled(True)


def connect(url, model):
    client = AsyncOpenAI(base_url=url, api_key="none")
    agent = Agent(name="words", model=OpenAIChatCompletionsModel(model=model, openai_client=client))

    async def ask():
        result = Runner.run_streamed(agent, MESSAGES[0]["content"])
        return "".join(
            [
                event.data.delta
                async for event in result.stream_events()
                if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent)
            ]
        )

    return ask


time_client(connect)
