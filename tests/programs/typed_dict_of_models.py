# Named objects, each checked; a wrong one is asked for again.
# replies: [{"json": {"value": {"oak": {"price": "much"}}}}, {"json": {"value": {"oak": {"price": 3}, "ash": {"price": 2}}}}]
from pydantic import BaseModel

from dovetail import Agent


class Wood(BaseModel):
    price: int


prices = Agent().input("What do oak and ash cost?").returns(dict[str, Wood]).start()
print({name: wood.price for name, wood in prices.items()})

# Output:
# {'oak': 3, 'ash': 2}
