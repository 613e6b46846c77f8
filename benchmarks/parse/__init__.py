"""Cost of one delta of an answer: our parser compared with others that return fields while they arrive."""
