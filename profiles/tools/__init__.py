"""The agent's tools: where they come from, and the one set of names they share."""
