# run_in_executor with functools.partial around a bound method.
# replies: [
#   {"when": "France", "json": {"capital": "Paris"}}, {"when": "Spain", "json": {"capital": "Madrid"}}
# ]
import asyncio
import functools

from dovetail import Agent

agent = Agent().output({"capital": (str, "a city")}, always=True)


async def main():
    loop = asyncio.get_running_loop()
    calls = [
        functools.partial(agent.input(name).start, ensure_keys=["capital"], timeout=120)
        for name in ("France", "Spain")
    ]
    print(await asyncio.gather(*(loop.run_in_executor(None, call) for call in calls)))


asyncio.run(main())

# Output:
# [{'capital': 'Paris'}, {'capital': 'Madrid'}]
