"""The commands of `dovetail`, one module each; loaded when they are used."""
