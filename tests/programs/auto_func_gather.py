# Functions whose body is the model, several at the same time.
# replies: [
#   {"when": "word: cat", "json": {"value": 3}}, {"when": "word: horse", "json": {"value": 5}}, {"json": {"plural": "mice"}}
# ]
import asyncio

from dovetail import Agent

agent = Agent()


@agent.auto_func
async def count_letters(word: str) -> int:
    """Count the letters of the word."""


@agent.auto_func
def make_plural(word: str) -> {"plural": (str, "the plural")}:
    """Say the plural of the word."""


async def main():
    print(await asyncio.gather(count_letters("cat"), count_letters("horse")))


asyncio.run(main())
print(make_plural("mouse"))

# Output:
# [3, 5]
# {'plural': 'mice'}
