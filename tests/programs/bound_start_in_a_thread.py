# A bound `start` handed to a thread carries its own question.
# replies: [
#   {"when": "France", "text": "Paris"}, {"when": "Spain", "text": "Madrid"}, {"when": "Italy", "text": "Rome"}
# ]
from concurrent.futures import ThreadPoolExecutor

from dovetail import Agent

agent = Agent()
with ThreadPoolExecutor(3) as pool:
    jobs = [pool.submit(agent.input(f"Capital of {name}?").start) for name in ("France", "Spain", "Italy")]
    for job in jobs:
        print(job.result())

# Output:
# Paris
# Madrid
# Rome
