"""What a streamed answer costs a server, and how late its tokens reach the user."""
