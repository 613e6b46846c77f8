"""The former place of `dovetail.schema.notation`; re-exports only."""

from dovetail.schema.notation import read_parameters, write_parameters

__all__ = ["read_parameters", "write_parameters"]
