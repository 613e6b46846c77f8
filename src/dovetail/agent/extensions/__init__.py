"""The agent extensions of document 000: classes mixed into `Agent`."""
