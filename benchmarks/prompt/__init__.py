"""Rendering of prompts, measured against the same text written by hand and against a peer."""
