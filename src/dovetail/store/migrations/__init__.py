"""Migrations of the tables."""
