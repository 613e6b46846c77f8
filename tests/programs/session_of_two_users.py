# Two users at the same time on one agent: nobody hears of the other.
# replies: [{"when": "I am Ann", "text": "Hi Ann."}, {"when": "I am Ben", "text": "Hi Ben."},
#   {"when": "Who is Ann", "text": "You."}, {"when": "Who is Ben", "text": "You."}]
import asyncio

from dovetail import Agent
from dovetail.agent import ChatSessionExtension


class Chatter(ChatSessionExtension, Agent):
    pass


agent = Chatter()


async def talk(name):
    agent.activate_chat_session(name)
    await agent.input(f"I am {name}").async_start()
    await agent.input(f"Who is {name}?").async_start()


async def main():
    await asyncio.gather(talk("Ann"), talk("Ben"))


asyncio.run(main())
for name in ("Ann", "Ben"):
    agent.activate_chat_session(name)
    print([message["content"] for message in agent.agent_prompt.get("chat_history")])

# Output:
# ['I am Ann', 'Hi Ann.', 'Who is Ann?', 'You.']
# ['I am Ben', 'Hi Ben.', 'Who is Ben?', 'You.']
