"""Schedules: runs that start by themselves, exactly once per tick over all processes."""
