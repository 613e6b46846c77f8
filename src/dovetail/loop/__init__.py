"""The turn loop: ask the model, run the tools it calls, until it answers or a limit is reached."""
