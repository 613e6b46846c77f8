"""Read and write schemas: every notation becomes JSON Schema and back."""
