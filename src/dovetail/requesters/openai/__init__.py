"""The requester for OpenAI-compatible chat completions."""
