# A generator is made here and read in another thread.
# replies: [{"text": "one two", "cut": 4}]
from concurrent.futures import ThreadPoolExecutor

from dovetail import Agent

agent = Agent()
pieces = agent.input("Count.").get_generator()
with ThreadPoolExecutor() as pool:
    print(pool.submit(list, pieces).result())

# Output:
# ['one ', 'two']
