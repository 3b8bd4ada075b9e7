"""Documents that an agent can search: extraction, chunks, index, search, and the tools for it."""
