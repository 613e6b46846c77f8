# A TaskGroup over one agent.
# replies: [
#   {"when": "France", "text": "Paris"}, {"when": "Spain", "text": "Madrid"}, {"when": "Italy", "text": "Rome"}
# ]
import asyncio

from dovetail import Agent


async def main():
    agent = Agent()
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(agent.input(f"Capital of {country}?").async_get_text())
            for country in ("France", "Spain", "Italy")
        ]
    print([task.result() for task in tasks])


asyncio.run(main())

# Output:
# ['Paris', 'Madrid', 'Rome']
