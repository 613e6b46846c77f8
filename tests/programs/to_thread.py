# asyncio.to_thread with a bound method of a chain.
# replies: [
#   {"when": "France", "text": "Paris"}, {"when": "Spain", "text": "Madrid"}, {"when": "Italy", "text": "Rome"}
# ]
import asyncio

from dovetail import Agent

agent = Agent()


async def main():
    jobs = [
        asyncio.to_thread(agent.input(f"Capital of {country}?").start)
        for country in ("France", "Spain", "Italy")
    ]
    print(await asyncio.gather(*jobs))


asyncio.run(main())

# Output:
# ['Paris', 'Madrid', 'Rome']
