"""The protocol of Google's Gemini models."""
