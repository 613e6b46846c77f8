"""Encoders: the events of a run as the streams that HTTP clients read."""
