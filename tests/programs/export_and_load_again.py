# What is exported can be loaded by another agent and says the same.
from dovetail import Agent

first = Agent().system("You sell wood.", always=True).input("What is new?")
first.output(
    {"answer": (str, "one sentence"), "prices": [{"of": (str, "wood"), "euro": (float, "net", 1.0)}]}
)
second = Agent().load_yaml_prompt(first.get_yaml_prompt())
third = Agent().load_json_prompt(second.get_json_prompt())
print(first.get_prompt_text() == second.get_prompt_text() == third.get_prompt_text())
print(third.get_yaml_prompt())

# Output:
# True
# .agent:
#   system: You sell wood.
# .request:
#   input: What is new?
#   output:
#     answer:
#       $type: str
#       $desc: one sentence
#     prices:
#     - of:
#         $type: str
#         $desc: wood
#       euro:
#         $type: float
#         $desc: net
#         $default: 1.0
#
