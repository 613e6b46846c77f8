# The same choices as settings: the first path that has a value, list indexes, every item.
# replies: [{"json": {"steps": [{"do": "saw"}, {"do": "glue"}]}}]
from dovetail import Agent
from dovetail.agent import ChatSessionExtension


class Chatter(ChatSessionExtension, Agent):
    pass


agent = Chatter(
    settings={
        "record_input_paths": ["info.missing", "input"],
        "record_input_mode": "first",
        "record_output_paths": ["steps[*].do"],
    }
)
agent.activate_chat_session()
agent.input("A bench").output({"steps": [{"do": (str,)}]}).start()
for message in agent.agent_prompt.get("chat_history"):
    print(repr(message["content"]))

# Output:
# 'A bench'
# 'steps[*].do:\n- saw\n- glue\n'
