# A run that reaches its limit without its object raises, and says which limit to raise.
# replies: [{"tool_calls": [{"name": "look", "arguments": {}}], "repeat": true}]
from dovetail import Agent
from dovetail.errors import ResponseError

agent = Agent()


@agent.tool_func
def look() -> str:
    """Look into the shed."""
    return "It is dark."


try:
    agent.run("How many saws?", returns=int, limits={"turns": 2})
except ResponseError as error:
    print("limits={'turns'" in str(error), "2 turns" in str(error))
print(agent.run("How many saws?", limits={"turns": 2}).reason)

# Output:
# True True
# max-turns
