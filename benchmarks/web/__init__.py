"""Smoothness of the page while a long answer streams in."""
