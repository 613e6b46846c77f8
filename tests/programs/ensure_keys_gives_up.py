# The model never gives the key.
# replies: [{"json": {"name": "oak"}, "repeat": true}]
from dovetail import Agent
from dovetail.errors import ResponseError

try:
    Agent().input("A tree").output({"name": (str,), "height": (int,)}).start(
        ensure_keys=["height"], max_retries=1
    )
except ResponseError as error:
    print("height" in str(error))

# Output:
# True
