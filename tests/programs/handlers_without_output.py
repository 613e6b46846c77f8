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
# Add one: agent.when_key('title', print). Handlers of other tasks do not apply here.
# The request has no keys to wait for (title): it has no output.
# Describe the answer: agent.output({'title': (str, 'a few words')}).
