"""Schemas: every notation to JSON Schema and back, and validation."""
