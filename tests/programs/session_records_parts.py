# Only parts of a turn are recorded, as YAML that keeps its letters.
# replies: [{"json": {"answer": "東京", "sources": ["a", "b"]}}]
from dovetail import Agent
from dovetail.agent import ChatSessionExtension


class Chatter(ChatSessionExtension, Agent):
    pass


agent = Chatter()
agent.activate_chat_session()
agent.set_record_input_paths("input", ("info", "user.name")).set_record_output_paths("answer", "sources[0]")
agent.info({"user": {"name": "Ann", "age": 30}}).input("Which city?")
agent.output({"answer": (str,), "sources": [(str,)]}).start()
for message in agent.agent_prompt.get("chat_history"):
    print(f"{message['role']}:\n{message['content']}")

# Output:
# user:
# info:
#   user.name: Ann
# input: Which city?
#
# assistant:
# answer: 東京
# sources[0]: a
#
