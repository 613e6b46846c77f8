"""Layered data (inherit and merge), dot and slash paths, values made serializable."""
