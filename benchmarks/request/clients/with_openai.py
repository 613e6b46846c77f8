"""The openai package."""

from openai import AsyncOpenAI

from benchmarks.request.timing import MESSAGES, time_client


def connect(url, model):
    client = AsyncOpenAI(base_url=url, api_key="none")

    async def ask():
        stream = await client.chat.completions.create(
            model=model, messages=MESSAGES, stream=True, stream_options={"include_usage": True}
        )
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])

    return ask


time_client(connect)
