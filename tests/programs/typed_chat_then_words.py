# A typed answer is part of the chat, and the next turn may ask about it in words.
# replies: [{"json": {"item": "chair", "pieces": 3}}, "Three chairs."]
from pydantic import BaseModel

from dovetail import Agent


class Order(BaseModel):
    item: str
    pieces: int


chat = Agent().chat("ann")
order = chat.run("I would like three chairs.", returns=Order).data
print(order.pieces + 1, order.item)
print(chat.run("What did I order?").text)
print([message["role"] for message in chat.messages])

# Output:
# 4 chair
# Three chairs.
# ['user', 'assistant', 'user', 'assistant']
