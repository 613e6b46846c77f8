# A coroutine function by the model is still a coroutine function, so frameworks take it as one.
# replies: [{"json": {"value": "positive"}}]
import asyncio
import inspect
from typing import Literal

from dovetail import Agent

agent = Agent()


@agent.auto_func
async def judge(review: str) -> Literal["positive", "negative"]:
    """Say how the customer felt."""


print(inspect.iscoroutinefunction(judge), asyncio.iscoroutinefunction(judge), judge.__name__)
print(inspect.signature(judge))
print(asyncio.run(judge("Good chair.")))

# Output:
# True True judge
# (review: str) -> Literal['positive', 'negative']
# positive
