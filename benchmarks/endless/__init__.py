"""What an answer without an end costs a server."""
