# A misspelt option is sent as it is, with a warning.
# replies: ["Oak."]
# stderr: Did you mean 'temperature'?
from dovetail import Agent

print(Agent(options={"temprature": 0}).input("A wood?").start())

# Output:
# Oak.
