# A stream of fields says in its last event that there are none.
# replies: ["Jupiter."]
# stderr: Cannot read data
from dovetail import Agent

for event in Agent().input("The largest planet?").output({"planet": (str,)}).get_generator("instant"):
    print(event.event_type, type(event.error).__name__)

# Output:
# error ResponseError
