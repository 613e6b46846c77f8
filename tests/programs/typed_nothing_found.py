# An answer that may be nothing is None, and not an error.
# replies: ["null", {"json": {"name": "oak"}}]
from pydantic import BaseModel

from dovetail import Agent


class Wood(BaseModel):
    name: str


agent = Agent()
print(agent.input("A wood that sinks and floats?").returns(Wood | None).start())
print(agent.input("A wood?").returns(Wood | None).start())

# Output:
# None
# name='oak'
