# A worker thread with a queue of questions; the agent was filled before, in the main thread.
# replies: [{"when": "one", "text": "1"}, {"when": "two", "text": "2"}, {"when": "main", "text": "0"}]
import queue
import threading

from dovetail import Agent

agent = Agent()
agent.input("of the main thread")
questions, answers = queue.Queue(), queue.Queue()


def work():
    while (question := questions.get()) is not None:
        answers.put(agent.input(question).start())


worker = threading.Thread(target=work)
worker.start()
for question in ("one", "two", None):
    questions.put(question)
worker.join()
print(answers.get(), answers.get(), agent.start())

# Output:
# 1 2 0
