"""What every HTTP request passes before a route: security, limits, logs and metrics."""
