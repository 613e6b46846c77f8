"""How fast the embedded model is, next to bare llama.cpp, and the first token of a chat."""
