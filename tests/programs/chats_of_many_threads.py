# Many threads, one agent, a chat for each user: nobody reads another one's messages.
# replies: [
#   {"when": "I am ann", "text": "Hello."}, {"when": "I am bob", "text": "Hello."}, {"when": "I am cid", "text": "Hello."},
#   {"when": "Who am I", "text": "You know.", "repeat": true}
# ]
from concurrent.futures import ThreadPoolExecutor

from dovetail import Agent

agent = Agent(system="You are polite.")


def talk(name: str) -> str:
    chat = agent.chat(name)
    chat.run(f"I am {name}.")
    chat.run("Who am I?")
    return " ".join(str(message["content"]) for message in chat.messages)


names = ["ann", "bob", "cid"]
with ThreadPoolExecutor() as pool:
    for name, said in zip(names, pool.map(talk, names), strict=True):
        print(name, [other for other in names if other in said])

# Output:
# ann ['ann']
# bob ['bob']
# cid ['cid']
