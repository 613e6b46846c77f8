# A conversation: what was said is told again.
# replies: ["Hello Ann.", {"when": "Who am I?", "text": "You are Ann."}]
from dovetail import Agent
from dovetail.agent import ChatSessionExtension


class Chatter(ChatSessionExtension, Agent):
    pass


agent = Chatter()
session = agent.activate_chat_session()
print(agent.input("I am Ann.").start())
print(agent.input("Who am I?").start())
print(len(session), session == agent.chat_session_id)
agent.stop_chat_session()
print(agent.agent_prompt.get("chat_history"))
agent.activate_chat_session(session)
print([message["content"] for message in agent.agent_prompt.get("chat_history")])

# Output:
# Hello Ann.
# You are Ann.
# 32 True
# None
# ['I am Ann.', 'Hello Ann.', 'Who am I?', 'You are Ann.']
