# Two users chat with one agent at the same time, two turns each; neither reads the other's words.
# replies: [
#   {"when": "I am Ann", "text": "Hello Ann."},
#   {"when": "I am Bob", "text": "Hello Bob."},
#   {"when": "Ann again", "text": "You are Ann."},
#   {"when": "Bob again", "text": "You are Bob."}
# ]
import asyncio

from dovetail import Agent

agent = Agent(system="You are a clerk.")


async def talk(name: str) -> list[str]:
    chat = agent.chat(name)
    await chat.async_run(f"I am {name}.")
    await chat.async_run(f"It is {name} again. Who am I?")
    return [message["content"] for message in chat.messages]


async def main() -> None:
    for said in await asyncio.gather(talk("Ann"), talk("Bob")):
        print(said)


asyncio.run(main())

# Output:
# ['I am Ann.', 'Hello Ann.', 'It is Ann again. Who am I?', 'You are Ann.']
# ['I am Bob.', 'Hello Bob.', 'It is Bob again. Who am I?', 'You are Bob.']
