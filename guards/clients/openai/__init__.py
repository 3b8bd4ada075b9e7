"""OpenAI's API, and the many that speak it: chat completions and responses, whole and streamed."""
