"""Conversations: a tree of messages and a head, kept in the store."""
