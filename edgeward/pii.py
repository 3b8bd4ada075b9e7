"""Where agent-defender has its masking; the same as `edgeward.scan_and_redact`."""

from .guards.clients.defender import scan_and_redact as scan_and_redact
