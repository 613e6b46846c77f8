"""Deltas in; events, fields and a typed result out; no I/O."""
