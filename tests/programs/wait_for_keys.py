# Key waiters of several threads on one agent.
# replies: [{"when": "oak", "json": {"title": "Oak", "text": "..."}}, {"when": "ash", "json": {"title": "Ash", "text": "..."}}]
from concurrent.futures import ThreadPoolExecutor

from dovetail import Agent

agent = Agent().output({"title": (str, "a title"), "text": (str, "a text")}, always=True)
with ThreadPoolExecutor() as pool:
    first = pool.submit(agent.input("About oak").get_key_result, "title")
    second = pool.submit(lambda: list(agent.input("About ash").wait_keys(["title"])))
    print(first.result(), second.result())

# Output:
# Oak [('title', 'Ash')]
