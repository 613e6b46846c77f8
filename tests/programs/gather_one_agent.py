# asyncio.gather over one agent: each question is sent once, in its own request.
# replies: [
#   {"when": "France", "text": "Paris"}, {"when": "Spain", "text": "Madrid"}, {"when": "Italy", "text": "Rome"}
# ]
import asyncio

from dovetail import Agent


async def main():
    agent = Agent().system("Answer with one word.", always=True)
    countries = ["France", "Spain", "Italy"]
    answers = await asyncio.gather(*(agent.input(f"Capital of {name}?").async_start() for name in countries))
    for country, answer in zip(countries, answers, strict=True):
        print(country, answer)


asyncio.run(main())

# Output:
# France Paris
# Spain Madrid
# Italy Rome
