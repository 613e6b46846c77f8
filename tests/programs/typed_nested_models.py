# Models in models: lists, fields that may be missing, defaults.
# replies: [{"json": {"name": "Ann & Co", "address": {"town": "Bern"}, "items": [{"wood": "oak", "count": 2}, {"wood": "ash"}]}}]
from pydantic import BaseModel

from dovetail import Agent


class Address(BaseModel):
    town: str
    street: str | None = None


class Item(BaseModel):
    wood: str
    count: int = 1


class Order(BaseModel):
    name: str
    address: Address
    items: list[Item]


order = Agent().input("Read the order.").returns(Order).start()
print(order.address.town, order.address.street, [(item.wood, item.count) for item in order.items])
print(type(order.items[0]).__name__)

# Output:
# Bern None [('oak', 2), ('ash', 1)]
# Item
