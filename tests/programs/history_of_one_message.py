# One message is a history too, and so is a list of them.
# replies: [{"json": {"n": 1}}]
from dovetail import Agent

agent = Agent().set_chat_history({"role": "user", "content": "My number is 1."})
print(agent.agent_prompt.get("chat_history"))
agent.add_chat_history([{"role": "assistant", "content": "I see."}, {"role": "user", "content": "I see."}])
agent.add_chat_history({"role": "assistant", "content": "I see."})
print(len(agent.agent_prompt.get("chat_history")))
print(agent.input("What is it?").output({"n": (int,)}).start())
agent.reset_chat_history().input("And now?")
print(agent.request_prompt.to_messages())

# Output:
# [{'role': 'user', 'content': 'My number is 1.'}]
# 4
# {'n': 1}
# [{'role': 'user', 'content': 'And now?'}]
