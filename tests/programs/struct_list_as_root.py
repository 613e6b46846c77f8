# The whole answer is a list.
# replies: [{"text": "Here you are:\n```json\n[{\"name\": \"oak\"}, {\"name\": \"ash\"}]\n```", "cut": 4}]
from dovetail import Agent

agent = Agent().input("Two trees").output([{"name": (str, "of the tree")}])
response = agent.get_response()
for event in response.get_generator(type="instant"):
    if event.is_complete:
        print(event.path, event.value)
print(response.get_data())

# Output:
# [0].name oak
# [0] {'name': 'oak'}
# [1].name ash
# [1] {'name': 'ash'}
# [{'name': 'oak'}, {'name': 'ash'}]
