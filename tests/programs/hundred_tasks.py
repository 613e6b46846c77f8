# A hundred tasks share one agent: a hundred different questions arrive at the model, each once.
# replies: [{"text": "ok", "repeat": true}]
import asyncio
import json
import os
import urllib.request

from dovetail import Agent

agent = Agent()


async def main():
    answers = await asyncio.gather(*(agent.input(f"question {n}").async_start() for n in range(100)))
    print(set(answers), len(answers))


asyncio.run(main())
with urllib.request.urlopen(os.environ["DOVETAIL_BASE_URL"].replace("/v1", "/script/requests")) as reply:
    asked = [body["messages"][-1]["content"] for body in json.load(reply)]
print(len(asked), sorted(asked) == sorted(f"question {n}" for n in range(100)))

# Output:
# {'ok'} 100
# 100 True
