"""Where agent-defender has its loader of policies; the same as `edgeward.load_policy`."""

from .policies.schema import load_policy as load_policy
