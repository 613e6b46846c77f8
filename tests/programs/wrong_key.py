# A key that the provider does not take is said in one line, without the key.
from dovetail import Agent
from dovetail.errors import ModelError
from dovetail.testing import ScriptedServer

with ScriptedServer(["never"], key="right") as server:
    settings = {"model": {"base_url": server.url, "api_key": "wrong-key-123"}}
    try:
        Agent(model="openai:m", settings=settings).input("Hello?").start()
    except ModelError as error:
        print(error.status, "wrong-key-123" in str(error))

# Output:
# 401 False
