# A key handler asks the same agent another question while the answer is still arriving.
# replies: [
#   {"when": "Plan a meal", "text": "{\"dish\": \"soup\", \"note\": \"hot\"}", "cut": 4}, {"when": "Wine for soup?", "text": "None."}
# ]
from dovetail import Agent

agent = Agent()


def suggest(dish):
    return agent.input(f"Wine for {dish}?").start()


agent.input("Plan a meal").output({"dish": (str, "a dish"), "note": (str, "a note")})
for key, value, result in agent.when_key("dish", suggest).start_waiter():
    print(key, value, result)

# Output:
# dish soup None.
