"""The google-genai package."""

from google import genai
from google.genai import types

from benchmarks.request.timing import MESSAGES, time_client


def connect(url, model):
    address, _, version = url.rpartition("/")
    options = types.HttpOptions(base_url=address, api_version=version)
    client = genai.Client(api_key="none", http_options=options)

    async def ask():
        stream = await client.aio.models.generate_content_stream(model=model, contents=MESSAGES[0]["content"])
        return "".join([chunk.text async for chunk in stream])

    return ask


time_client(connect)
