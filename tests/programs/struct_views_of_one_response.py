# One response, many views, one request.
# replies: [{"json": {"n": "3"}, "reasoning": "Counting."}]
# stderr: `n`: expected int, got str
from dovetail import Agent

response = Agent().input("How many?").output({"n": (int, "a number")}).get_response()
print(response.get_text())
print(response.get_data())
print(response.get_data_object().n + 1)
print(response.get_data(type="all")["reasoning"])

# Output:
# {"n": "3"}
# {'n': '3'}
# 4
# Counting.
