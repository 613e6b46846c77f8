# Typed requests that were begun first and filled later do not mix.
# replies: [
#   {"when": "doors", "json": {"value": ["oak"]}},
#   {"when": "price", "json": {"value": 900}}
# ]
from dovetail import Agent

agent = Agent()
woods = agent.returns(list[str])
price = agent.returns(int)
woods.input("Woods for doors?")
price.input("The price of oak?")
print(price.start() + 1, woods.start())

# Output:
# 901 ['oak']
