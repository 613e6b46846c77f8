# Items are taken as they arrive; the one that was cut off at the limit of tokens is not among them.
# replies: [
#   {"text": "{\"value\": [{\"name\": \"Ann\"}, {\"name\": \"Christo", "finish_reason": "length"},
#   {"text": "{\"title\": \"Oak\", \"story\": \"Once upon a", "finish_reason": "length"},
#   {"text": "{\"title\": \"Oak\", \"story\": \"Once upon a", "finish_reason": "length"}
# ]
# stderr: The data is incomplete: the answer was cut off at the model's length limit
from pydantic import BaseModel

from dovetail import Agent
from dovetail.errors import AnswerLengthError


class Person(BaseModel):
    name: str


for event in Agent().input("Who works here?").returns(list[Person]).get_generator("instant"):
    if event.is_complete and event.wildcard_path == "[*]":
        print("store", event.value)
    if event.error:
        print("not whole:", type(event.error).__name__)

story = Agent().output({"title": (str,), "story": (str,)}, always=True)
print(list(story.input("Tell one.").wait_keys(["title", "story"])))
try:
    print(story.input("Tell one.").get_key_result("story"))
except AnswerLengthError as error:
    print("not whole:", "max_tokens" in str(error))

# Output:
# store {'name': 'Ann'}
# not whole: AnswerLengthError
# [('title', 'Oak')]
# not whole: True
