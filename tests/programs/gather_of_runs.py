# Runs with typed results, gathered; one that fails does not spoil the others.
# replies: [
#   {"when": "oak", "json": {"wood": "oak", "hard": true}},
#   {"when": "balsa", "json": {"wood": "balsa", "hard": false}},
#   {"when": "steel", "status": 400, "body": {"error": {"message": "no wood"}}}
# ]
import asyncio

from pydantic import BaseModel

from dovetail import Agent


class Wood(BaseModel):
    wood: str
    hard: bool


async def main() -> None:
    agent = Agent(system="You know woods.")
    runs = (agent.async_run(f"Is {name} hard?", returns=Wood) for name in ("oak", "steel", "balsa"))
    for result in await asyncio.gather(*runs, return_exceptions=True):
        print(type(result).__name__ if isinstance(result, Exception) else result.data)


asyncio.run(main())

# Output:
# wood='oak' hard=True
# ModelError
# wood='balsa' hard=False
