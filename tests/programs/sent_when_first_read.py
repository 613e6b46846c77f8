# A response sends its request when it is first read, and is cancelled before that without one.
from dovetail import Agent
from dovetail.errors import CancelledRunError

response = Agent().input("Hello").get_response()
print(response)
response.cancel()
try:
    response.get_text()
except CancelledRunError as error:
    print(error)

# Output:
# <Response, not sent>
# The request was cancelled before it was sent.
