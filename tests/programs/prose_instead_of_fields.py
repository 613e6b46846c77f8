# The model chats where fields were asked for: the data is None, and the log says why.
# replies: ["Jupiter."]
# stderr: Cannot read data: the answer contains no JSON object: 'Jupiter.'.
from dovetail import Agent

print(Agent().input("The largest planet?").output({"planet": (str, "name")}).start())

# Output:
# None
