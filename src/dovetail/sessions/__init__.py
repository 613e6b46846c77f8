"""Conversations: trees of messages, and the answers that runs write into them."""
