# One of several questions fails; the others are answered.
# replies: [
#   {"when": "good", "text": "Fine."}, {"when": "bad", "status": 400, "body": {"error": {"message": "too rude"}}}
# ]
import asyncio

from dovetail import Agent
from dovetail.errors import ModelError


async def main():
    agent = Agent()
    good, bad, empty = await asyncio.gather(
        agent.input("good").async_start(),
        agent.input("bad").async_start(),
        agent.async_start(),
        return_exceptions=True,
    )
    print(good, isinstance(bad, ModelError), "too rude" in str(bad), type(empty).__name__)


asyncio.run(main())

# Output:
# Fine. True True EmptyPromptError
