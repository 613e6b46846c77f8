# What one task says for its next request is not seen by another; what is said for always is.
# replies: [{"text": "ok", "repeat": true}]
import asyncio

from dovetail import Agent

agent = Agent().system("Be brief.", always=True)


async def ask(user):
    agent.info(f"The password of {user}")
    await asyncio.sleep(0.01)
    text = agent.input("Hi").get_prompt_text()
    await agent.async_start()
    return text


async def main():
    for text in await asyncio.gather(ask("ann"), ask("bob")):
        print(text.count("password"), "Be brief." in text)


asyncio.run(main())

# Output:
# 1 True
# 1 True
