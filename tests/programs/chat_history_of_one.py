# A chat history may be one message or several.
# replies: ["You are Ann.", "You said hello."]
from dovetail import Agent

agent = Agent()
agent.set_chat_history({"role": "user", "content": "I am Ann."})
print(agent.input("Who am I?").start())
agent.set_chat_history([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}])
agent.add_chat_history({"role": "user", "content": "What did I say?"})
print(len(agent.agent_prompt["chat_history"]), agent.input("What did I say first?").start())

# Output:
# You are Ann.
# 3 You said hello.
