# What users type is data, whatever it looks like.
from dovetail import Agent

PROMPT = """
$system: Answer ${name}.
input: ${question}
info: {"${topic}": 1}
output: {answer: "${shape}"}
"""
values = {"name": ".agent", "question": "$system", "topic": ".alias", "shape": {"$type": "int"}}
agent = Agent().load_yaml_prompt(PROMPT, values)
print(agent.agent_prompt.get())
print(agent.request_prompt.get(inherit=False))

# Output:
# {'system': 'Answer .agent.'}
# {'input': '$system', 'info': {'.alias': 1}, 'output': {'answer': {'$type': 'int'}}}
