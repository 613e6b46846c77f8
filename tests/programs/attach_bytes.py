# The bytes of a picture, and a text file, go to the model as what they are: a picture and a file.
import base64
from pathlib import Path

from dovetail import Agent
from dovetail.testing import ScriptedRequester

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
Path("notes.txt").write_text("Buy oak.")

model = ScriptedRequester(["A dot, and a note."])
agent = Agent(model=model).input("What is this?").attachment([base64.b64decode(PIXEL), Path("notes.txt")])
print(agent.start())
content = model.requests[0].messages[-1]["content"]
print([part["type"] for part in content])
print(content[1]["data"] == PIXEL, base64.b64decode(content[2]["data"]))

# Output:
# A dot, and a note.
# ['text', 'image', 'file']
# True b'Buy oak.'
