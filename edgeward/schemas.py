"""Where agent-defender has its values; the same as those of `edgeward`."""

from .guards.clients.defender import CheckResult as CheckResult
from .guards.clients.defender import Decision as Decision
from .guards.clients.defender import FunctionCall as FunctionCall
from .guards.clients.defender import Status as Status
from .guards.clients.defender import ToolCall as ToolCall
from .guards.clients.defender import ToolFinding as ToolFinding
