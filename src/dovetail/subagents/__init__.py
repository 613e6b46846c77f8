"""Agents as data and as tools: definitions, files, registry."""
