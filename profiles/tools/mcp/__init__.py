"""MCP servers as a source of tools: connected, pinned, called, closed."""
