# A mistyped alias is skipped, with a warning that says what may have been meant.
# stderr: The alias 'instuct' is skipped: the agent has no such method. Did you mean 'instruct'
from dovetail import Agent

agent = Agent().load_yaml_prompt(".alias: {instuct: {prompt: Be brief.}}\ninput: go\n")
print(agent.request_prompt.get())

# Output:
# {'input': 'go'}
