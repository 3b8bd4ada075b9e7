"""Anthropic's API: messages, whole and streamed."""
