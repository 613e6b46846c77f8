"""The embedded models: their weights on disk, the engine that runs them, and how a small model is asked."""
