"""One run: a numbered event journal beside its readers, cancel, engines."""
