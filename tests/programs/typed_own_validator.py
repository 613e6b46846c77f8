# A rule of the model's own class: the model reads its text, and writes the answer again.
# replies: [{"json": {"start": 9, "end": 8}}, {"when": "ends before it starts", "json": {"start": 9, "end": 17}}]
from pydantic import BaseModel, model_validator

from dovetail import Agent


class Opening(BaseModel):
    start: int
    end: int

    @model_validator(mode="after")
    def check(self) -> "Opening":
        if self.end < self.start:
            raise ValueError("it ends before it starts")
        return self


print(Agent().input("When are you open?").returns(Opening).start())

# Output:
# start=9 end=17
