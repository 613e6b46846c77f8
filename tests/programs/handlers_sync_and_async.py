# Handlers of every kind; the results say which key they are for.
# replies: [{"json": {"title": "Oak", "tags": ["old", "hard"]}, "cut": 4}]
from dovetail import Agent

agent = Agent().output({"title": (str,), "tags": [(str,)]}, always=True)


async def shout(title):
    return title.upper()


agent.when_key("title", shout).when_key("title", len).when_key("tags[*]", lambda tag: tag[0])
for key, value, result in agent.input("A tree").start_waiter():
    print(key, value, result)

# Output:
# title Oak OAK
# title Oak 3
# tags[0] old o
# tags[1] hard h
