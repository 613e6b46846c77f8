"""The engines: local (this process), DBOS and Temporal."""
