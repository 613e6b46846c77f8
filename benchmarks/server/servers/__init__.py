"""The other servers, each in as few lines as possible; ours is the real one."""
