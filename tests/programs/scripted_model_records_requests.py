# A program tests its agent without a model and looks at what was sent.
from dovetail import Agent
from dovetail.testing import ScriptedRequester

model = ScriptedRequester(["Oak."])
print(Agent(model=model, system="Be brief.").input("A wood?").start())
print([message["role"] for message in model.requests[0].messages])

# Output:
# Oak.
# ['system', 'user']
