"""The chat in the terminal: its screen, its commands, and the answers without a screen."""
