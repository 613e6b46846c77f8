# A list of different things, told apart by a field.
# replies: [{"json": [{"kind": "mail", "to": "ann"}, {"kind": "wait", "hours": 3}]}]
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from dovetail import Agent


class Mail(BaseModel):
    kind: Literal["mail"]
    to: str


class Wait(BaseModel):
    kind: Literal["wait"]
    hours: int


Step = Annotated[Mail | Wait, Field(discriminator="kind")]

for step in Agent().input("What next?").returns(list[Step]).start():
    match step:
        case Mail(to=to):
            print("mail to", to)
        case Wait(hours=hours):
            print("wait for", hours)

# Output:
# mail to ann
# wait for 3
