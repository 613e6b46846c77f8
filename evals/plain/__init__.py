"""Plain questions to `local:good`: as right in a chat with tools as in a bare request? `make plain`."""
