# Two agents stream their fields at the same time; each loop sees its own.
# replies: [
#   {"when": "poem", "json": {"title": "Oak", "lines": ["Old", "Tall"]}},
#   {"when": "bill", "json": {"total": 12, "paid": false}}
# ]
import asyncio

from dovetail import Agent

poet = Agent("poet").output({"title": (str,), "lines": [(str,)]}, always=True)
clerk = Agent("clerk").output({"total": (int,), "paid": (bool,)}, always=True)


async def read(agent: Agent, task: str) -> dict:
    fields = {}
    async for event in agent.input(task).async_get_generator("instant"):
        if event.is_complete:
            fields[event.path] = event.value
    return fields


async def main() -> None:
    for fields in await asyncio.gather(read(poet, "A poem."), read(clerk, "A bill.")):
        print(fields)


asyncio.run(main())

# Output:
# {'title': 'Oak', 'lines[0]': 'Old', 'lines[1]': 'Tall', 'lines': ['Old', 'Tall']}
# {'total': 12, 'paid': False}
