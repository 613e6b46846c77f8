# A web service with sync and async routes on one shared agent.
# replies: [
#   {"when": "ann", "text": "Hello Ann"}, {"when": "bob", "text": "Hello Bob"}, {"when": "cid", "text": "Hello Cid"}, {"when": "dee", "text": "Hello Dee"}
# ]
import asyncio

import httpx
from fastapi import FastAPI

from dovetail import Agent

app = FastAPI()
agent = Agent().system("Greet the user.", always=True)


@app.get("/async/{name}")
async def greet_async(name: str):
    return await agent.input(f"I am {name}").async_start()


@app.get("/sync/{name}")
def greet_sync(name: str):
    return agent.input(f"I am {name}").start()


async def main():
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        paths = ["/async/ann", "/sync/bob", "/async/cid", "/sync/dee"]
        answers = await asyncio.gather(*(client.get(path) for path in paths))
        print([answer.json() for answer in answers])


asyncio.run(main())

# Output:
# ['Hello Ann', 'Hello Bob', 'Hello Cid', 'Hello Dee']
