# Threads run one agent with a tool; each gets the object of its own task.
# replies: [
#   {"when": "oak", "tool_calls": [{"name": "price", "arguments": {"wood": "oak"}}]},
#   {"when": "elm", "tool_calls": [{"name": "price", "arguments": {"wood": "elm"}}]},
#   {"when": "900", "tool_calls": [{"name": "complete_task", "arguments": {"result": {"wood": "oak", "price": 900}}}]},
#   {"when": "400", "tool_calls": [{"name": "complete_task", "arguments": {"result": {"wood": "elm", "price": 400}}}]}
# ]
from concurrent.futures import ThreadPoolExecutor

from pydantic import BaseModel

from dovetail import Agent


class Quote(BaseModel):
    wood: str
    price: int


def price(wood: str) -> int:
    """Look up the price of a wood."""
    return {"oak": 900, "elm": 400}[wood]


agent = Agent(tools=[price])
with ThreadPoolExecutor() as pool:
    for result in pool.map(lambda wood: agent.run(f"Quote {wood}.", returns=Quote), ["oak", "elm"]):
        print(result.data, result.turns)

# Output:
# wood='oak' price=900 2
# wood='elm' price=400 2
