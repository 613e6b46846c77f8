"""The anthropic package."""

from anthropic import AsyncAnthropic

from benchmarks.request.timing import MESSAGES, time_client


def connect(url, model):
    client = AsyncAnthropic(base_url=url.removesuffix("/v1"), api_key="none")

    async def ask():
        stream = await client.messages.create(model=model, max_tokens=1000, messages=MESSAGES, stream=True)
        return "".join([event.delta.text async for event in stream if event.type == "content_block_delta"])

    return ask


time_client(connect)
