# A server that is overloaded for a moment is asked again; the log says so.
# stderr: attempt 1 failed, retrying in 0.0 s
# replies: [{"status": 503}, {"status": 429, "headers": {"retry-after": "0"}}, "Here I am."]
from dovetail import Agent

agent = Agent(settings={"model": {"retries": {"first_delay": 0.01}}})
print(agent.input("Hello?").start())

# Output:
# Here I am.
