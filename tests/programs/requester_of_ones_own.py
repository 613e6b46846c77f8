# A model of one's own is a class with `stream`; text, fields and tools work with it.
from pydantic import BaseModel

from dovetail import Agent
from dovetail.events import FinishDelta, TextDelta


class Parrot:
    model, follows_schema, calls_tools = "my:parrot", False, False

    async def stream(self, request):
        words = str(request.messages[-1]["content"])
        yield TextDelta('{"said": "fields"}' if "said" in words else words.upper())
        yield FinishDelta()

    async def close(self):
        print("closed")


class Said(BaseModel):
    said: str


agent = Agent(model=Parrot())
print(agent.input("hello").start())
print(agent.input("hello").returns(Said).start())
print(agent.run("run, parrot").text)

# Output:
# HELLO
# said='fields'
# RUN, PARROT
