# Threads with event loops of their own share one agent.
# replies: [{"when": "first", "text": "one"}, {"when": "second", "text": "two"}]
import asyncio
import threading

from dovetail import Agent

agent = Agent()
answers = {}


def work(question):
    answers[question] = asyncio.run(agent.input(question).async_start())


threads = [threading.Thread(target=work, args=(question,)) for question in ("first", "second")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(answers.items()))

# Output:
# [('first', 'one'), ('second', 'two')]
