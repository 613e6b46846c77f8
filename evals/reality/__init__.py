"""Ask `local:good` everything that a newcomer is shown, the way a newcomer would: `make reality`."""
