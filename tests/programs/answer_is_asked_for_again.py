# An answer without a key that must be there is asked for again.
# replies: [{"json": {"name": "oak"}}, {"json": {"name": "oak", "hardness": 6}}]
from dovetail import Agent

agent = Agent().output({"name": (str, "a wood"), "hardness": (int, "1 to 10")})
print(agent.input("A wood?").start(ensure_keys=["hardness"]))

# Output:
# {'name': 'oak', 'hardness': 6}
