"""Where agent-defender has its policies and their loader; the same as those of `edgeward`."""

from .guards.decide import Policy as Policy
from .policies.schema import load_policy as load_policy
