# Two agents share a helper that returns an object; both work at the same time.
# replies: [
#   {"when": "Plan a door", "tool_calls": [{"name": "expert", "arguments": {"task": "wood for a door"}}]},
#   {"when": "Plan a boat", "tool_calls": [{"name": "expert", "arguments": {"task": "wood for a boat"}}]},
#   {"when": "wood for a door", "json": {"wood": "oak"}},
#   {"when": "wood for a boat", "json": {"wood": "teak"}},
#   {"when": "oak", "text": "A door of oak."},
#   {"when": "teak", "text": "A boat of teak."}
# ]
import asyncio

from pydantic import BaseModel

from dovetail import Agent


class Advice(BaseModel):
    wood: str


expert = Agent("expert", system="You know woods.")
joiner = Agent("joiner", tools=[expert.returns(Advice)])
builder = Agent("builder", tools=[expert.returns(Advice)])


async def main() -> None:
    door, boat = await asyncio.gather(joiner.async_run("Plan a door."), builder.async_run("Plan a boat."))
    print(door.text, boat.text)


asyncio.run(main())

# Output:
# A door of oak. A boat of teak.
