# What is missing is said, as an error that is also a NotImplementedError.
from dovetail import Agent

agent = Agent().input("x")
for prepare in (lambda: agent, lambda: agent.when_key("title", print)):
    try:
        prepare().start_waiter()
    except NotImplementedError as error:
        print(error)

# Output:
# No key handlers are registered.
# Add one first: agent.when_key('title', print). Those of other tasks are not for this.
# the request has no keys to wait for (title): it has no output
# Say what the answer holds: agent.output({'title': (str, 'a few words')}).
