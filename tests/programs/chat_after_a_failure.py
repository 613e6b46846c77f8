# A turn that failed is not in the chat; asked again, it continues where the chat was.
# replies: [
#   "Hello.", {"error": {"message": "no", "status": 401}}, "Oak."
# ]
from dovetail import Agent
from dovetail.errors import ModelError

chat = Agent().chat("ann")
chat.run("Hello!")
for _ in range(2):
    try:
        print(chat.run("A wood for doors?").text)
    except ModelError as error:
        print(type(error).__name__, error.status)
print([message["content"] for message in chat.messages])

# Output:
# ModelError 401
# Oak.
# ['Hello!', 'Hello.', 'A wood for doors?', 'Oak.']
