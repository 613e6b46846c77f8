"""The commands of `dovetail`, one module each, loaded on use."""
