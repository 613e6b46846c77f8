"""The command line: typer and rich over the app."""
