"""Chat in the terminal with an agent that remembers: start it again, and it still knows what was said.

An empty line or Ctrl-D ends the program. Delete the folder `chats` to forget everything.
"""

import sys

from dovetail import Agent
from dovetail.agent import ChatSessionExtension, FolderChatStore


class Chatter(ChatSessionExtension, Agent):
    """An agent that records every turn and sends it to the model again."""


def main() -> None:
    """Answer line by line."""
    agent = Chatter(system="You are a friendly assistant. Answer in one or two sentences.")
    agent.use_chat_store(FolderChatStore("chats"))
    agent.activate_chat_session("my-chat")
    print("> ", end="", flush=True)
    for line in map(str.strip, sys.stdin):
        if not line:
            break
        for text in agent.input(line).get_generator("delta"):
            print(text, end="", flush=True)
        print("\n> ", end="", flush=True)


if __name__ == "__main__":
    main()
