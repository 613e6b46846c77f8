"""Chat in the terminal with an agent that remembers: start it again, and it still knows what was said.

An empty line ends the program. Delete the folder `chats` to forget everything.
"""

from dovetail import Agent
from dovetail.agent import ChatSessionExtension, FolderChatStore


class Chatter(ChatSessionExtension, Agent):
    """An agent that records every turn and sends it to the model again."""


def main() -> None:
    """Answer line by line."""
    agent = Chatter(system="You are a friendly assistant. Answer in one or two sentences.")
    agent.use_chat_store(FolderChatStore("chats"))
    agent.activate_chat_session("my-chat")
    while line := input("> ").strip():
        for text in agent.input(line).get_generator("delta"):
            print(text, end="", flush=True)
        print()


if __name__ == "__main__":
    main()
