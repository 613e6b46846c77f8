"""The pages of docs/reference, each written from the code that it describes."""
