# One key is enough, the rest of the answer is not waited for.
# replies: [{"json": {"title": "Oak", "text": "A long text."}, "cut": 4}]
from dovetail import Agent

agent = Agent().input("A tree").output({"title": (str,), "text": (str,)})
print(agent.get_key_result("title"))

# Output:
# Oak
