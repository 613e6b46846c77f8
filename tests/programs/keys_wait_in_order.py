# Keys come in the order in which the model writes them.
# replies: [{"json": {"rows": [{"id": 1}, {"id": 2}], "by": {"name": "Ann"}}, "cut": 3}]
from dovetail import Agent

agent = Agent().input("Rows").output({"rows": [{"id": (int,)}], "by": {"name": (str,)}})
for path, value in agent.wait_keys(["by.name", "rows[*].id", "/rows/[1]"]):
    print(path, value)

# Output:
# rows[0].id 1
# rows[1].id 2
# rows[1] {'id': 2}
# by.name Ann
