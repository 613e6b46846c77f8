# Two runs stream at the same time from one agent; each text arrives whole.
# replies: [
#   {"when": "oak", "text": "Oak is hard and heavy.", "cut": 3},
#   {"when": "pine", "text": "Pine is soft and light.", "cut": 5}
# ]
import asyncio

from dovetail import Agent

agent = Agent()


async def read(wood: str) -> str:
    stream = agent.run_stream(f"What is {wood} like?")
    text = ""
    async for event in stream:
        if event.type == "text-delta":
            text += event.delta
    assert text == stream.result.text
    return text


async def main() -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(read(wood)) for wood in ("oak", "pine")]
    for task in tasks:
        print(task.result())


asyncio.run(main())

# Output:
# Oak is hard and heavy.
# Pine is soft and light.
