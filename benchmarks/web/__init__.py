"""How smooth the page stays while a long answer streams in."""
