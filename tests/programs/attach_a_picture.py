# A path is sent as the content of its file.
# replies: ["A red square."]
from pathlib import Path

from dovetail import Agent

Path("red.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
agent = Agent().input("What is it?").attachment(Path("red.png"))
part = agent.request_prompt["attachment"]
print(part["type"], part["media_type"], part["filename"], part["data"][:8])
print(agent.start())

# Output:
# image image/png red.png iVBORw0K
# A red square.
