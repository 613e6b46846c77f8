# The first reply is not JSON at all.
# replies: ["I would rather not say.", {"json": {"steps": [{"do": "saw"}, {"do": "glue"}]}}]
from dovetail import Agent

agent = Agent().input("A bench").output({"steps": [{"do": (str,)}]})
print(agent.start(ensure_keys=["steps[*].do"]))

# Output:
# {'steps': [{'do': 'saw'}, {'do': 'glue'}]}
