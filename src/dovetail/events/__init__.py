"""The words all parts speak: messages, deltas, events, kinds, budgets; data only."""
