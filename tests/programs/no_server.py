# A model server that cannot be reached is named in the error.
# exit: 1
# stderr: 127.0.0.1:9
import os

os.environ["DOVETAIL_BASE_URL"] = "http://127.0.0.1:9/v1"

from dovetail import Agent

Agent().input("Hello?").start()

# Output:
