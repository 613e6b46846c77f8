"""HTTP in, event streams out: routes, encoders, the built web client."""
