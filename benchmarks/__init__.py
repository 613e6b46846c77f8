"""CPU time as a ratio to hand-written code and to peers."""
