"""The requester for servers that speak the OpenAI chat completions API."""
