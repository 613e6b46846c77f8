# A handler that fails stops neither the others nor the answer.
# replies: [{"json": {"a": 1, "b": 2}}]
from dovetail import Agent

agent = Agent().input("x").output({"a": (int,), "b": (int,)})
agent.when_key("a", lambda value: value / 0).when_key("b", print)
try:
    agent.start_waiter()
except ZeroDivisionError as error:
    print(error)

# Output:
# 2
# division by zero
