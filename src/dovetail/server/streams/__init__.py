"""Streams for HTTP clients: chunks and events, framed."""
