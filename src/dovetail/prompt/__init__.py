"""Slots in; text, messages, output model and exports out."""
