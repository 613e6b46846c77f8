"""The openai package, over the Responses API."""

from openai import AsyncOpenAI

from benchmarks.request.timing import MESSAGES, time_client


def connect(url, model):
    client = AsyncOpenAI(base_url=url, api_key="none")

    async def ask():
        events = await client.responses.create(model=model, input=MESSAGES, store=False, stream=True)
        return "".join([event.delta async for event in events if event.type == "response.output_text.delta"])

    return ask


time_client(connect)
