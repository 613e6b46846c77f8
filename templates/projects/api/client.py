"""Has the running service sort a message, and prints the answer; any language can do the same."""

import json
import os
from typing import Any
from urllib.request import Request, urlopen

URL = os.environ.get("DOVETAIL_URL", "http://127.0.0.1:8000")
MESSAGE = "Order 42 should have been here on Monday. I need it for a party tomorrow! Ann, C-7"


def sort_message(message: str) -> dict[str, Any]:
    """Return the fields that the agent `triage` submits."""
    body = json.dumps({"agent": "triage", "message": message}).encode()
    headers = {"content-type": "application/json", "accept": "application/json"}
    if key := os.environ.get("DOVETAIL_SERVER_KEY"):
        headers["authorization"] = f"Bearer {key}"
    with urlopen(Request(f"{URL}/api/v1/chat", body, headers), timeout=300) as response:
        return json.load(response)["response"]


if __name__ == "__main__":
    print(json.dumps(sort_message(MESSAGE), indent=2, ensure_ascii=False))
