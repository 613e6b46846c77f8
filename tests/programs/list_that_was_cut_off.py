# A list that ends at the limit of tokens is an error, not a shorter list.
# replies: [{"text": "{\"value\": [{\"name\": \"Ann\"}, {\"name\": \"Christo", "finish_reason": "length"}]
from pydantic import BaseModel

from dovetail import Agent
from dovetail.errors import AnswerLengthError


class Person(BaseModel):
    name: str


try:
    print(Agent().input("Who works here?").returns(list[Person]).start())
except AnswerLengthError as error:
    print(str(error).splitlines()[-1])

# Output:
# Raise the option `max_tokens`, as in `agent.options({'max_tokens': 8000})`, or ask for less at once.
