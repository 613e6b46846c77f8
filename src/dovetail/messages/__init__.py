"""The former place of `dovetail.events`; re-exports only."""
