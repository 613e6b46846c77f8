"""langchain-openai's chat model."""

from langchain_openai import ChatOpenAI

from benchmarks.request.timing import MESSAGES, time_client


def connect(url, model):
    chat_model = ChatOpenAI(model=model, base_url=url, api_key="none", stream_usage=True)

    async def ask():
        return "".join([chunk.text async for chunk in chat_model.astream(MESSAGES)])

    return ask


time_client(connect)
