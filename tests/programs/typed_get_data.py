# A typed request gives the instance by every name for its data.
# replies: [{"json": {"value": 3}}, {"json": {"value": 4}}, {"json": {"value": 5}}]
from dovetail import Agent

agent = Agent()
print(agent.input("1 + 2?").returns(int).start())
print(agent.input("2 + 2?").returns(int).get_data())
print(agent.input("2 + 3?").returns(int).get_data_object())

# Output:
# 3
# 4
# 5
