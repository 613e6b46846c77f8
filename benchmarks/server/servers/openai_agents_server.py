"""openai-agents behind FastAPI: each piece of text is an event."""

import json
import sys

import uvicorn
from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from openai import AsyncOpenAI
from openai.types.responses import ResponseTextDeltaEvent
from pydantic import BaseModel

UPSTREAM, PORT = sys.argv[1], int(sys.argv[2])
set_tracing_disabled(True)
model = OpenAIChatCompletionsModel(
    model="scripted", openai_client=AsyncOpenAI(base_url=UPSTREAM, api_key="none")
)
agent = Agent(name="words", model=model)
app = FastAPI()


class Question(BaseModel):
    """The request of a user."""

    message: str


async def write_events(message):
    """Yield the answer as server-sent events."""
    async for event in Runner.run_streamed(agent, message).stream_events():
        if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent):
            yield f"data: {json.dumps({'delta': event.data.delta})}\n\n"


@app.post("/")
async def chat(question: Question):
    """Answer one request."""
    return StreamingResponse(write_events(question.message), media_type="text/event-stream")


if __name__ == "__main__":
    uvicorn.run(app, port=PORT, log_level="critical", access_log=False, backlog=2048)
