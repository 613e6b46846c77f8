# A handler of one agent asks another one, with the plain `start()`, in sync and in async code.
# replies: [
#   {"when": "Is this polite: Hey!", "text": "no"}, {"when": "polite : no", "text": "Please be polite."},
#   {"when": "Is this polite: Please", "text": "yes"}, {"when": "polite : yes", "text": "With pleasure."}
# ]
# stderr: start() was called in a running event loop, which it blocks
import asyncio

from dovetail import Agent

judge, agent = Agent("judge"), Agent("main")


def add_verdict(prompt, settings):
    prompt.set("info", {"polite": judge.input(f"Is this polite: {prompt.get('input')}").start()})


agent.extension_handlers.append("request_prefixes", add_verdict)
print(agent.input("Hey!").start())
print(asyncio.run(agent.input("Please help").async_start()))

# Output:
# Please be polite.
# With pleasure.
