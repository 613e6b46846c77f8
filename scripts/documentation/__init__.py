"""The documentation site: pages copied from docs/ per language, their builder and the generated reference."""
