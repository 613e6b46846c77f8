# A loop that tries again after an error of the server.
# replies: [
#   {"status": 400, "body": {"error": {"message": "busy"}}}, {"status": 400, "body": {"error": {"message": "busy"}}}, "At last."
# ]
from dovetail import Agent
from dovetail.errors import ModelError

agent = Agent()
for attempt in range(3):
    try:
        print(attempt, agent.input("Hello?").start())
        break
    except ModelError as error:
        print(attempt, "busy" in str(error))

# Output:
# 0 True
# 1 True
# 2 At last.
