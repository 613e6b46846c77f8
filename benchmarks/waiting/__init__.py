"""What runs cost that wait for an answer."""
