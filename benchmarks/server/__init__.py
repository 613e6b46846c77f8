"""Cost of a streamed answer on a server, and the delay of its tokens."""
