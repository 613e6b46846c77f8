"""How long a test waits for something that must happen before it calls it missing."""

PATIENCE = 300.0
"""Seconds. A guard against a hang, never part of what a test asserts: a busy machine is slow."""
