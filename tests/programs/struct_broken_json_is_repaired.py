# Small models forget commas, quotes and brackets.
# replies: ["Sure! {'name': 'oak', \"height\": 30,}  Hope that helps."]
from dovetail import Agent

print(Agent().input("A tree").output({"name": (str,), "height": (int,)}).start())

# Output:
# {'name': 'oak', 'height': 30}
