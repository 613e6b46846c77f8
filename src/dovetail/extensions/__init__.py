"""Extension folders on disk: discover, import, validate, publish a generation."""
