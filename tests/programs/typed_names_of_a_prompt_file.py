# Types in a file are text; with a setting they are types for the checked object.
# replies: [{"json": {"n": "3", "tags": ["a"]}}, {"json": {"n": "3", "tags": ["a"]}}]
from dovetail import Agent

PROMPT = "input: Go\noutput: {n: {$type: int}, tags: [{$type: str}]}\n"
agent = Agent().load_yaml_prompt(PROMPT)
print(agent.request_prompt.get("output"))
print(repr(agent.get_data_object().n))
agent.set_settings("prompt.resolve_type_names", True)
print(repr(agent.load_yaml_prompt(PROMPT).get_data_object().n))

# Output:
# {'n': ('int', None), 'tags': [('str', None)]}
# '3'
# 3
