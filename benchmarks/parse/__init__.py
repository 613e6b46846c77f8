"""How much a delta of an answer costs: our parser beside others that show fields while they arrive."""
