# Nothing was asked.
from dovetail import Agent

try:
    Agent().start()
except KeyError as error:
    print(str(error).splitlines()[0])

# Output holds:
# input
