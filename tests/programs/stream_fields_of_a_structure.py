# Fields are shown while they arrive; text grows piece by piece.
# replies: [{"json": {"title": "Oak", "tags": ["old", "hard"]}, "cut": 5}]
from dovetail import Agent

agent = Agent().input("A tree").output({"title": (str,), "tags": [(str,)]})
text = ""
for event in agent.get_generator(type="instant"):
    if event.path == "title" and not event.is_complete:
        text += event.delta
    if event.is_complete:
        print(event.path, event.value)
print("streamed:", text)

# Output:
# title Oak
# tags[0] old
# tags[1] hard
# tags ['old', 'hard']
# streamed: Oak
