# A prompt in YAML, with placeholders.
# replies: [{"when": "Translate into French", "json": {"reply": "Bonjour"}}]
from dovetail import Agent

PROMPT = """
.agent:
  system: You are a translator.
.request:
  instruct: Translate into ${language}.
  input: ${text}
  output:
    reply:
      $type: str
      $desc: in ${language}
"""
agent = Agent().load_yaml_prompt(PROMPT, {"language": "French", "text": "Hello"})
print(agent.start())
print(agent.agent_prompt.get())

# Output:
# {'reply': 'Bonjour'}
# {'system': 'You are a translator.'}
