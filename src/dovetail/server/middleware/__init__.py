"""What every HTTP request passes before it reaches a route: security, limits, logs and metrics."""
