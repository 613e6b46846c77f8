"""Real questions for the embedded models; each module is a program that fails if too many are wrong."""
