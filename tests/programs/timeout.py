# A time limit for the whole answer; afterwards the agent is as good as new.
# replies: [{"when": "long", "steps": ["Well, ", {"hold": "never"}], "repeat": true}, {"when": "quick", "text": "Quick!"}]
from dovetail import Agent
from dovetail.errors import AnswerTimeoutError

agent = Agent()
try:
    agent.input("Think long.").start(timeout=0.3)
except AnswerTimeoutError as error:
    print(type(error).__name__, isinstance(error, TimeoutError))
print(agent.input("Be quick.").start(timeout=120))

# Output:
# AnswerTimeoutError True
# Quick!
