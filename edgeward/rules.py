"""Where agent-defender has its check of calls; the same as `edgeward.check_tool_calls`."""

from .guards.clients.defender import check_tool_calls as check_tool_calls
