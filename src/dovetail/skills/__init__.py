"""SKILL.md files: discover, resolve, inject."""
