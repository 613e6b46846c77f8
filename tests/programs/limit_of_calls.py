# A limit of requests holds for an agent and its helper together.
# replies: [
#   {"tool_calls": [{"name": "helper", "arguments": {"task": "a wood"}}]},
#   "Oak.",
#   "It is oak."
# ]
from dovetail import Agent

helper = Agent("helper", system="You know woods.")
boss = Agent("boss", tools=[helper])
result = boss.run("Which wood?", limits={"calls": 3})
print(result.text)
try:
    boss.run("Which wood?", limits={"call": 3})
except Exception as error:
    print(type(error).__name__, "calls" in str(error))

# Output:
# It is oak.
# ConfigError True
