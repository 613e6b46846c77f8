# The error names the keys that did arrive; a default stands in for it.
# replies: [{"json": {"title": "Oak", "size": {"height": 30}}}, {"json": {"title": "Oak"}}]
from dovetail import Agent
from dovetail.errors import ResponseError

agent = Agent().output({"title": (str,), "size": {"height": (int,)}, "age": (int,)}, always=True)
try:
    agent.input("A tree").get_key_result("age")
except ResponseError as error:
    print(error)
print(agent.input("Again").get_key_result("age", default=0))

# Output:
# Key 'age' was missing from the answer; received: title, size.height, size.
# Pass `default=` to get a value instead.
# 0
