# A key that must be there: the model is asked again, with the reason.
# replies: [{"json": {"name": "oak"}}, {"json": {"name": "oak", "height": 30}}]
from dovetail import Agent

agent = Agent().input("A tree").output({"name": (str,), "height": (int, "in metres")})
response = agent.get_response()
print(response.get_data(ensure_keys=["height"]))
print(response.get_text())

# Output:
# {'name': 'oak', 'height': 30}
# {"name": "oak", "height": 30}
