# A web service streams answers to its clients, from a sync and from an async generator of one agent.
# replies: [
#   {"when": "oak", "text": "Oak is hard.", "cut": 4}, {"when": "balsa", "text": "Balsa is soft.", "cut": 4}
# ]
import asyncio

import httpx
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

from dovetail import Agent

app = FastAPI()
agent = Agent()


@app.get("/sync/{wood}")
def tell(wood: str):
    return StreamingResponse(agent.input(f"About {wood}").get_generator("delta"))


@app.get("/async/{wood}")
async def tell_async(wood: str):
    return StreamingResponse(agent.input(f"About {wood}").async_get_generator("delta"))


async def main():
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answers = await asyncio.gather(client.get("/sync/oak"), client.get("/async/balsa"))
        print([answer.text for answer in answers])


asyncio.run(main())

# Output:
# ['Oak is hard.', 'Balsa is soft.']
