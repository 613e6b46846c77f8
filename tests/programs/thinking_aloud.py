# What the model thinks in tags is reasoning, and not the answer.
# replies: [{"text": "<think>{\"wood\": \"ash\"}? No.</think>{\"wood\": \"oak\"}", "cut": 3}]
from dovetail import Agent

response = Agent().input("A wood?").output({"wood": (str,)}).get_response()
print(response.get_data())
print(response.get_result().reasoning)

# Output:
# {'wood': 'oak'}
# {"wood": "ash"}? No.
