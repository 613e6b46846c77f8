# A part of a file, in its own encoding.
# replies: [{"when": "你好", "text": "ok"}]
from pathlib import Path

from dovetail import Agent

Path("prompts.yaml").write_text("shop:\n  greet:\n    input: 你好\n", encoding="gb18030")
agent = Agent().load_yaml_prompt("prompts.yaml", prompt_key_path="shop.greet", encoding="gb18030")
print(agent.request_prompt.get("input"))
print(agent.start())

# Output:
# 你好
# ok
