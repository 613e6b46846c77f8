"""Durable runs: the engine, the numbered journal, its readers, questions and recovery."""
