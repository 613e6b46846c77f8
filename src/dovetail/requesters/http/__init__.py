"""Models over HTTP: one requester, one retry policy and one error vocabulary for all protocols."""
