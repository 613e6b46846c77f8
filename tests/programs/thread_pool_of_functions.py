# Many threads share one agent; each writes and sends its own request.
# replies: [
#   {"when": "France", "text": "Paris"}, {"when": "Spain", "text": "Madrid"}, {"when": "Italy", "text": "Rome"}
# ]
from concurrent.futures import ThreadPoolExecutor

from dovetail import Agent

agent = Agent()


def ask(country):
    agent.input(f"Capital of {country}?")
    agent.instruct("One word.")
    return agent.start()


with ThreadPoolExecutor(3) as pool:
    print(list(pool.map(ask, ["France", "Spain", "Italy"])))

# Output:
# ['Paris', 'Madrid', 'Rome']
