"""The boto3 package, in threads: it has no asynchronous client."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import boto3
from botocore.config import Config

from benchmarks.request.timing import MESSAGES, time_client

THREADS = ThreadPoolExecutor(50)


def connect(url, model):
    client = boto3.client(
        "bedrock-runtime",
        "us-east-1",
        endpoint_url=url,
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(max_pool_connections=50),
    )
    messages = [{"role": "user", "content": [{"text": MESSAGES[0]["content"]}]}]

    def read():
        stream = client.converse_stream(modelId=model, messages=messages)["stream"]
        deltas = [event["contentBlockDelta"]["delta"] for event in stream if "contentBlockDelta" in event]
        return "".join([delta["text"] for delta in deltas])

    async def ask():
        return await asyncio.get_running_loop().run_in_executor(THREADS, read)

    return ask


time_client(connect)
