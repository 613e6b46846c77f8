# The log has one line of JSON for each call of a tool, with secrets masked.
# replies: [{"tool_calls": [{"name": "log_in", "arguments": {"user": "ann", "password": "hunter22"}}]}, "Done."]
import json
import logging

from dovetail import Agent


class Keep(logging.Handler):
    def emit(self, record):
        line = json.loads(record.getMessage())
        print(line["tool"], line["args"], line["status"])


logging.getLogger("dovetail.audit").addHandler(Keep())
logging.getLogger("dovetail.audit").setLevel(logging.INFO)


def log_in(user: str, password: str) -> str:
    """Log in."""
    return f"welcome {user}"


print(Agent(tools=[log_in]).run("Log in.").text)

# Output:
# log_in {'user': 'ann', 'password': '***'} ok
# Done.
