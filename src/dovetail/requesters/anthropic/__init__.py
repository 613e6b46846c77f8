"""The protocol of Anthropic's Messages API."""
