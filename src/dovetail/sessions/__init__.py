"""A conversation: a tree of messages and a head, kept in a database."""
