"""Model replies by script, for users' tests and ours."""
