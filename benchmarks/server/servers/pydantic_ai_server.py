"""pydantic-ai behind its adapter for the AI SDK."""

import sys

import uvicorn
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from starlette.applications import Starlette
from starlette.routing import Route

UPSTREAM, PORT = sys.argv[1], int(sys.argv[2])
agent = Agent(OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=UPSTREAM, api_key="none")))


async def chat(request):
    """Answer one request."""
    return await VercelAIAdapter.dispatch_request(request, agent=agent)


if __name__ == "__main__":
    app = Starlette(routes=[Route("/", chat, methods=["POST"])])
    uvicorn.run(app, port=PORT, log_level="critical", access_log=False, backlog=2048)
