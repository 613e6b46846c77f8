# An agent that was used before a fork is used in parent and child after it.
# replies: [{"when": "before", "text": "one"}, {"when": "child", "text": "two"}, {"when": "parent", "text": "three"}]
import multiprocessing

from dovetail import Agent

agent = Agent()


def work():
    print(agent.input("in the child").start(), flush=True)


print(agent.input("before the fork").start(), flush=True)
child = multiprocessing.get_context("fork").Process(target=work)
child.start()
child.join()
print(agent.input("in the parent").start(), child.exitcode)

# Output:
# one
# two
# three 0
