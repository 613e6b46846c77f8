# A tool of an agent asks the same agent, while the agent is answering; sync, and in a running loop.
# replies: [
#   {"tool_calls": [{"name": "translate", "arguments": {"text": "oak"}}]}, {"when": "text: oak", "json": {"value": "Eiche"}},
#   {"when": "Eiche", "text": "It is Eiche."},
#   {"tool_calls": [{"name": "translate", "arguments": {"text": "ash"}}]}, {"when": "text: ash", "json": {"value": "Esche"}},
#   {"when": "Esche", "text": "It is Esche."}
# ]
import asyncio

from dovetail import Agent

agent = Agent()
helper = Agent()


@agent.auto_func
def to_german(text: str) -> str:
    """Translate the text to German."""


@helper.tool_func
def translate(text: str) -> str:
    """Translate a text."""
    return to_german(text)


async def main():
    print(await helper.input("What is ash in German?").async_start())


helper.set_settings("tools.strategy", "native")
print(helper.input("What is oak in German?").start())
asyncio.run(main())

# Output:
# It is Eiche.
# It is Esche.
