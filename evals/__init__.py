"""Real questions to the embedded models; each module is a program that fails when too many are wrong."""
