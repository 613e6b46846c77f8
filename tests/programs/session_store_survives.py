# Conversations in a folder are found again by the next program.
# replies: ["Hello Ann.", {"when": "Who am I?", "text": "Ann."}]
from dovetail import Agent
from dovetail.agent import ChatSessionExtension, FolderChatStore


class Chatter(ChatSessionExtension, Agent):
    pass


first = Chatter().use_chat_store(FolderChatStore("chats"))
first.activate_chat_session("ann")
first.input("I am Ann.").start()
second = Chatter().use_chat_store(FolderChatStore("chats"))
second.activate_chat_session("ann")
print(second.input("Who am I?").start())
print(len(second.agent_prompt.get("chat_history")))

# Output:
# Ann.
# 4
