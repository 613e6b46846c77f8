# An answer that is an instance of a model; one that does not fit is asked for again.
# replies: [{"json": {"name": "oak"}}, {"json": {"name": "oak", "height": 30}}]
from pydantic import BaseModel, Field

from dovetail import Agent


class Tree(BaseModel):
    name: str
    height: float = Field(description="in metres", gt=0)


tree = Agent().input("A tree").returns(Tree).start()
print(repr(tree))

# Output:
# Tree(name='oak', height=30.0)
