# JSON5: comments, single quotes, trailing commas; aliases call methods of the agent.
# replies: [{"when": "Be brief", "text": "ok"}]
from dovetail import Agent

PROMPT = """
{
  // for every request
  $info: {shop: 'wood'},
  input: 'What is new?',
  '.alias': {instruct: {'.args': ['Be ${how}.']}, reset_chat_history: null},
}
"""
agent = Agent().add_chat_history({"role": "user", "content": "old"})
agent.load_json_prompt(PROMPT, {"how": "brief"})
print(agent.agent_prompt.get())
print(agent.start())

# Output:
# {'info': {'shop': 'wood'}}
# ok
